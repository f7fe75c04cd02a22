/** Where one may be in a JSON number. */
const MINUS = 0;
const ZERO = 1;
const WHOLE = 2;
const POINT = 3;
const FRACTION = 4;
const E = 5;
const SIGN = 6;
const EXPONENT = 7;
const NO = -1;

const CLASSES = ['0', '123456789', '.', 'eE', '-+'];
const CLASS_OF = new Int8Array(256).fill(NO);
CLASSES.forEach((chars, index) => Buffer.from(chars).forEach((byte) => (CLASS_OF[byte] = index)));

/** By place, then by class of the next byte: the place after it. */
const NEXT = [
  /* MINUS    */ [ZERO, WHOLE, NO, NO, NO],
  /* ZERO     */ [NO, NO, POINT, E, NO],
  /* WHOLE    */ [WHOLE, WHOLE, POINT, E, NO],
  /* POINT    */ [FRACTION, FRACTION, NO, NO, NO],
  /* FRACTION */ [FRACTION, FRACTION, NO, E, NO],
  /* E        */ [EXPONENT, EXPONENT, NO, NO, SIGN],
  /* SIGN     */ [EXPONENT, EXPONENT, NO, NO, NO],
  /* EXPONENT */ [EXPONENT, EXPONENT, NO, NO, NO],
] as const;

export const NUMBER_MAY_END = NEXT.map((_, place) => [ZERO, WHOLE, FRACTION, EXPONENT].includes(place));

/** The place after the first byte of a number; -1 when no number begins with it. */
export function numberBegin(byte: number): number {
  return byte === 45 ? MINUS : afterInNumber(MINUS, byte);
}

/** The place after a byte of a number; -1 when the byte does not belong to it. */
export function afterInNumber(place: number, byte: number): number {
  const kind = CLASS_OF[byte]!;
  return kind < 0 ? NO : NEXT[place]![kind]!;
}
