import { Parser } from 'htmlparser2';
import { resolveWebUrl } from './web-url';

/** Longest title kept, in UTF-16 units: a result is a fact about the page, not a copy of it. */
const MAX_TITLE = 1_000;
/** Longest canonical URL kept; a longer one counts as none. */
const MAX_URL = 8_192;

export interface ParsedPage {
  /** Text of the first title, white space collapsed, at most 1,000 characters; null when absent or blank. */
  title: string | null;
  /** The first canonical link, resolved against the page's URL; null when absent or not http or https. */
  canonical: string | null;
}

/** Collapses white space and cuts, not through the middle of a character. */
function tidyTitle(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.slice(0, MAX_TITLE).replace(/[\uD800-\uDBFF]$/, '');
}

/** Finds title and canonical link in a document, however broken. */
export function parsePage(html: string, url: URL): ParsedPage {
  let title: string | undefined;
  let canonical: string | undefined;
  let inTitle = false;
  let svgDepth = 0;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'svg') svgDepth++;
      // The title inside an svg names the picture.
      if (name === 'title' && title === undefined && svgDepth === 0) {
        inTitle = true;
        title = '';
      }
      const isCanonical = name === 'link' && /(^|\s)canonical(\s|$)/i.test(attributes['rel'] ?? '');
      if (isCanonical) canonical ??= attributes['href'];
    },
    ontext(text) {
      if (inTitle) title += text;
    },
    onclosetag(name) {
      if (name === 'svg') svgDepth--;
      if (name === 'title') inTitle = false;
    },
  });
  parser.end(html);
  const resolved = canonical === undefined ? null : resolveWebUrl(canonical, url);
  return {
    title: tidyTitle(title ?? '') || null,
    canonical: resolved && resolved.href.length <= MAX_URL ? resolved.href : null,
  };
}
