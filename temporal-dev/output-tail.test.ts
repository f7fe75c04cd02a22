import { OutputTail } from './output-tail';

describe('OutputTail', () => {
  test('keeps the last lines of all chunks', () => {
    const tail = new OutputTail();
    for (let line = 1; line <= 5_000; line++) tail.append(`line ${line}\n`);
    const lines = tail.toString().split('\n');
    expect(lines).toHaveLength(12);
    expect(lines.at(-1)).toBe('line 5000');
  });

  test('a line may come in pieces', () => {
    const tail = new OutputTail();
    tail.append('one ');
    tail.append(Buffer.from('line\r\nand another\n'));
    expect(tail.toString()).toBe('one line\nand another');
  });

  test('is empty when nothing was written', () => {
    expect(new OutputTail().toString()).toBe('');
  });
});
