import { describe, expect, it } from "vitest";
import { textOfEvents, utf8 } from "../support.ts";
import { createDecoder, event, FINISH, run } from "./stream.ts";

/** What only this protocol has. What every decoder must do is tested in `../decoders.test.ts`. */
describe("decoding a turn of the sessions protocol", () => {
  it("calls a stream cut that ends after a name without data", () => {
    expect(run("event: finish\n").failure).toBe("cut");
  });

  it("ignores everything after the end", () => {
    const decoder = createDecoder();
    decoder.push(utf8(FINISH));
    expect(decoder.ended).toBe(true);
    expect(decoder.push(utf8("event: text\ndata: garbage\n\n"))).toEqual([]);
    expect(decoder.finish()).toEqual([]);
  });
});

describe("long lines", () => {
  const long = (length: number): Uint8Array => utf8(event("text", { text: "x".repeat(length) }) + FINISH);

  function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
  }

  it("are read at 2 MiB in pieces of 1 kB", () => {
    const { events, failure } = run(...pieces(long(2 * 1024 * 1024), 1024));
    expect(failure).toBeNull();
    expect(textOfEvents(events, "text")).toHaveLength(2 * 1024 * 1024);
  });

  it("are refused beyond 16 MiB, in one piece or many", () => {
    const bytes = long(16 * 1024 * 1024 + 1);
    expect(run(bytes).failure).toBe("malformed");
    expect(run(...pieces(bytes, 64 * 1024)).failure).toBe("malformed");
  });

  it("of a comment need no memory", () => {
    const comment = utf8("x".repeat(1024 * 1024));
    expect(run(": ", ...Array.from({ length: 20 }, () => comment), "\n\n", FINISH).failure).toBeNull();
  });
});
