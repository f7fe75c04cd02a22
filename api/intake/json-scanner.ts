import { Problem } from '../problems';
import { MAX_DEPTH } from './depth';
import { NUMBER_MAY_END, afterInNumber, numberBegin } from './json-number';

/** The body itself, `items`, and an item's own depth. */
const MAX_BODY_DEPTH = MAX_DEPTH + 3;

/** What is taken next; from STRING on within a text. */
const VALUE = 0;
const ELEMENT_OR_END = 1;
const KEY_OR_END = 2;
const KEY = 3;
const COLON = 4;
const COMMA_OR_END = 5;
const DONE = 6;
const STRING = 7;
const ESCAPE = 8;
const HEX = 9;
const LITERAL = 10;
const NUMBER = 11;

const byteOf = (char: string): number => char.charCodeAt(0);
const [QUOTE, BACKSLASH, COLON_BYTE, COMMA] = [byteOf('"'), byteOf('\\'), byteOf(':'), byteOf(',')];
const [BRACE, BRACKET, BRACE_END, BRACKET_END] = [byteOf('{'), byteOf('['), byteOf('}'), byteOf(']')];
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));
const HEX_DIGITS = new Set(Buffer.from('0123456789abcdefABCDEF'));
const SPACE = new Set(Buffer.from(' \t\r\n'));
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [byteOf(word), word]));

/** What is found in a body; every text is one JSON value, whole. */
export interface Found {
  /** A field begins; true when its value must be an array, whose elements are given one by one. */
  field(name: Buffer): boolean;
  value(text: Buffer): void;
  element(text: Buffer): void;
  /** So many bytes of a text are held, and it is not at its end. */
  held(bytes: number): void;
}

/**
 * Cuts a JSON object into its fields, and one of these into its elements, as its bytes come; holds no more than the one
 * text that is under way. It says no at the first byte that is out of place. What the texts mean is for `JSON.parse`.
 */
export class JsonScanner {
  private state = VALUE;
  /** The opening bytes of what is open. */
  private readonly open: number[] = [];
  private inKey = false;
  private digits = 0;
  private word = '';
  private number = 0;
  /** Elements of the field's value are wanted. */
  private cutting = false;
  /** How deep the text is that is held; -1 when none is. */
  private heldAt = -1;
  private pieces: Buffer[] = [];
  private heldBytes = 0;
  private chunk: Buffer = Buffer.alloc(0);
  private from = 0;
  private before = 0;

  constructor(private readonly found: Found) {}

  get complete(): boolean {
    return this.state === DONE;
  }

  /** @throws Problem, and whatever `found` throws. */
  write(chunk: Buffer): void {
    this.chunk = chunk;
    this.from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (this.state === STRING) {
        at = endOfPlain(chunk, at);
        if (at === chunk.length) break;
      }
      this.take(chunk[at]!, at);
    }
    this.before += chunk.length;
    if (this.heldAt < 0) return;
    this.hold(chunk.length);
    this.found.held(this.heldBytes);
  }

  private take(byte: number, at: number): void {
    if (this.state === NUMBER) {
      const next = afterInNumber(this.number, byte);
      if (next >= 0) {
        this.number = next;
        return;
      }
      if (!NUMBER_MAY_END[this.number]) throw this.outOfPlace(byte, at);
      this.endValue(at);
    } else if (this.state >= STRING) {
      if (!this.takeWithinText(byte, at)) throw this.outOfPlace(byte, at);
      return;
    }
    if (SPACE.has(byte)) return;
    if (!this.takeBetween(byte, at)) throw this.outOfPlace(byte, at);
  }

  private takeWithinText(byte: number, at: number): boolean {
    switch (this.state) {
      case STRING:
        if (byte === QUOTE) this.endValue(at + 1);
        else if (byte === BACKSLASH) this.state = ESCAPE;
        else return false;
        return true;
      case ESCAPE:
        this.digits = 0;
        this.state = byte === byteOf('u') ? HEX : STRING;
        return this.state === HEX || ESCAPED.has(byte);
      case HEX:
        if (++this.digits === 4) this.state = STRING;
        return HEX_DIGITS.has(byte);
      default:
        if (byte !== this.word.charCodeAt(this.digits++)) return false;
        if (this.digits === this.word.length) this.endValue(at + 1);
        return true;
    }
  }

  private takeBetween(byte: number, at: number): boolean {
    const within = this.open[this.open.length - 1];
    switch (this.state) {
      case COLON:
        this.state = VALUE;
        return byte === COLON_BYTE;
      case KEY_OR_END:
      case KEY:
        if (byte === BRACE_END && this.state === KEY_OR_END) return this.close(at);
        this.beginValue(at, true);
        this.state = STRING;
        return byte === QUOTE;
      case COMMA_OR_END:
        if (byte === (within === BRACE ? BRACE_END : BRACKET_END)) return this.close(at);
        this.state = within === BRACE ? KEY : VALUE;
        return byte === COMMA;
      case ELEMENT_OR_END:
        return byte === BRACKET_END ? this.close(at) : this.takeFirstOfValue(byte, at);
      case VALUE:
        return this.takeFirstOfValue(byte, at);
      default:
        return false;
    }
  }

  private takeFirstOfValue(byte: number, at: number): boolean {
    const number = numberBegin(byte);
    const word = LITERALS.get(byte);
    if (byte === BRACE || byte === BRACKET) {
      this.checkShape(byte);
      this.beginValue(at, false);
      this.open.push(byte);
      if (this.open.length > MAX_BODY_DEPTH)
        throw new Problem('too_deep', `the body is nested over ${MAX_BODY_DEPTH} levels deep`);
      this.state = byte === BRACE ? KEY_OR_END : ELEMENT_OR_END;
    } else if (byte === QUOTE || word !== undefined || number >= 0) {
      this.checkShape(byte);
      this.beginValue(at, false);
      this.digits = 1;
      this.word = word ?? '';
      this.number = number;
      this.state = byte === QUOTE ? STRING : word !== undefined ? LITERAL : NUMBER;
    } else return false;
    return true;
  }

  /** The body is an object; a field that is to be cut is an array. */
  private checkShape(byte: number): void {
    if (this.open.length === 0 && byte !== BRACE) throw new Problem('invalid_request', 'the body is not an object');
    if (this.open.length === 1 && this.cutting && byte !== BRACKET)
      throw new Problem('invalid_request', 'items is not an array', {
        issues: [{ path: 'items', message: 'not an array' }],
      });
  }

  /** At `at` a value or a key begins, on the level that is open now. */
  private beginValue(at: number, isKey: boolean): void {
    this.inKey = isKey;
    const level = this.open.length;
    if (this.heldAt >= 0 || level !== (this.cutting ? 2 : 1)) return;
    this.heldAt = level;
    this.from = at;
    this.pieces = [];
    this.heldBytes = 0;
  }

  private close(at: number): true {
    this.open.pop();
    this.inKey = false;
    this.endValue(at + 1);
    return true;
  }

  /** Before `end` a value or a key ended. */
  private endValue(end: number): void {
    const level = this.open.length;
    const isKey = this.inKey;
    this.inKey = false;
    this.state = isKey ? COLON : level === 0 ? DONE : COMMA_OR_END;
    if (level === 1 && !isKey && this.cutting) this.cutting = false;
    if (this.heldAt !== level) return;
    this.hold(end);
    const text = this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces);
    this.heldAt = -1;
    this.pieces = [];
    if (isKey) this.cutting = this.found.field(text);
    else if (level === 1) this.found.value(text);
    else this.found.element(text);
  }

  private hold(end: number): void {
    const piece = this.chunk.subarray(this.from, end);
    this.pieces.push(piece);
    this.heldBytes += piece.length;
  }

  private outOfPlace(byte: number, at: number): Problem {
    const shown =
      byte > 32 && byte < 127 ? JSON.stringify(String.fromCharCode(byte)) : `the byte 0x${byte.toString(16)}`;
    return new Problem('invalid_json', `${shown} is out of place at byte ${this.before + at} of the body`);
  }
}

/** Where a string has its next byte that is more than itself. */
function endOfPlain(chunk: Buffer, from: number): number {
  let at = from;
  for (; at < chunk.length; at++) {
    const byte = chunk[at]!;
    if (byte === QUOTE || byte === BACKSLASH || byte < 32) break;
  }
  return at;
}
