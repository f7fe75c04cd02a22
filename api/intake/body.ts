import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { Problem } from '../problems';

/** The bytes of a request as they arrive, counted and hashed on the way. */
export class Body {
  private readonly hash = createHash('sha256');
  private received = 0;

  /** @param salt what else makes this request the one it is: its query. */
  constructor(
    private readonly request: Request,
    private readonly maxBytes: number,
    salt: string,
  ) {
    this.hash.update(`${salt}\n`);
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > maxBytes) throw this.tooLarge();
  }

  /** @throws Problem when it grows over the limit or breaks off. */
  async *chunks(): AsyncGenerator<Buffer> {
    try {
      // The stream outlives an early no: what the client still sends is read while it hears the answer.
      for await (const chunk of this.request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        this.received += chunk.length;
        if (this.received > this.maxBytes) throw this.tooLarge();
        this.hash.update(chunk);
        yield chunk;
      }
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem('truncated_body', 'the connection broke off before the body was complete');
    }
  }

  /** Of the whole body; called once, at its end. */
  digest(): string {
    return this.hash.digest('hex');
  }

  private tooLarge(): Problem {
    return new Problem('body_too_large', `the body is over ${this.maxBytes} bytes`);
  }
}
