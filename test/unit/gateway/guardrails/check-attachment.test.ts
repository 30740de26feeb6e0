import { describe, expect, test } from "vitest";
import { guardrailSchema } from "../../../../src/core/config/schemas/guardrail-schema.ts";
import type { Part } from "../../../../src/core/conversation/conversation.ts";
import { AttachmentChecker } from "../../../../src/gateway/guardrails/check-attachment.ts";
import { TextChecker } from "../../../../src/gateway/guardrails/text-checker.ts";
import { conversation } from "../../../support/conversations.ts";

type Attachment = Exclude<Part, { readonly type: "text" }>;

const ruleOf = (action: "mask" | "deny") =>
  guardrailSchema.parse({ id: "rule", type: "expressions", expressions: [{ pattern: "apollo", action }] });

/** Checks a file. */
const check = (part: Attachment, action: "mask" | "deny" = "mask") =>
  new AttachmentChecker(conversation({}), new TextChecker([ruleOf(action)])).mask(part);

const fileOf = (content: string | Uint8Array, mediaType: string, filename?: string): Attachment => ({
  type: "file",
  mediaType,
  source: { kind: "inline", data: Buffer.from(content).toString("base64"), mediaType },
  ...(filename !== undefined && { filename }),
});

/** The text of a checked file. */
function textOf(part: Attachment): string {
  if (part.source.kind !== "inline") throw new Error("the file is not inline");
  return Buffer.from(part.source.data, "base64").toString();
}

describe("an attachment under guardrails", () => {
  test.each([
    ["text/plain", "the apollo file"],
    ["text/csv", "a,apollo,c"],
    ["application/json", '{"name":"apollo"}'],
    ["application/x-unknown", "the apollo file"],
    ["text/plain", "the apo\0llo file"],
  ])("of the type %s is masked in its text: %j", async (mediaType, content) => {
    const masked = await check(fileOf(content, mediaType));
    expect(textOf(masked)).toContain("[removed]");
    expect(textOf(masked)).not.toMatch(/apo\0?llo/);
    await expect(check(fileOf(content, mediaType), "deny")).rejects.toMatchObject({ code: "content_filter" });
  });

  test("is masked in its name", async () => {
    expect(await check(fileOf("peace", "text/plain", "apollo.txt"))).toMatchObject({
      filename: "[removed].txt",
    });
  });

  test.each([
    ["a picture", { type: "image", source: { kind: "url", url: "https://example.com/apollo.png" } }],
    ["an address", { type: "file", source: { kind: "url", url: "https://example.com/apollo.txt" } }],
    ["bytes that are no text", fileOf(Uint8Array.of(0xff, 0xfe, 0, 1), "application/x-unknown")],
    ["a text that no rule matches", fileOf("peace", "text/plain")],
  ] as const)("is unchanged: %s", async (_, part) => {
    expect(await check(part)).toEqual(part);
  });
});
