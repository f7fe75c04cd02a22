/** Whether the payload may ask for it: an absolute http or https URL without a user or password in it. */
export function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

/** `href` resolved against `base`; null when that is no web URL. */
export function resolveWebUrl(href: string, base: URL): URL | null {
  if (!URL.canParse(href, base.href)) return null;
  const url = new URL(href, base);
  return isWebUrl(url.href) ? url : null;
}
