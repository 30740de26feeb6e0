import fc from "fast-check";
import { expect, it } from "vitest";
import { JoinedText } from "../../../../src/pages/technologies/joined-text.ts";

it("has the same length and the same slices as the joined parts", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 5 })), fc.nat(40), fc.nat(40), (parts, start, end) => {
      const whole = parts.join("\n");
      const joined = new JoinedText(parts);
      expect(joined.length).toBe(whole.length);
      expect(joined.slice(start, end)).toBe(whole.slice(start, end));
    }),
  );
});
