import { describe, expect, it } from "vitest";
import type { Conversation, Part } from "../../../../../src/core/conversation/conversation.ts";
import { GatewayError } from "../../../../../src/core/errors/gateway-error.ts";
import { renderTranscript } from "../../../../../src/gateway/providers/sessions/prompt.ts";
import { conversation } from "../support.ts";

const text = (value: string): Part => ({ type: "text", text: value });
describe("attachments in the prompt", () => {
  const PNG = "iVBORw0KGgo=";
  const image = (data: string): Part => ({
    type: "image",
    source: { kind: "inline", data, mediaType: "image/png" },
  });
  const file = (data: string, mediaType: string, filename?: string): Part => ({
    type: "file",
    source: { kind: "inline", data: btoa(data), mediaType },
    ...(filename === undefined ? {} : { filename }),
  });

  function transcript(
    parts: readonly Part[],
    changes: Partial<Conversation> = {},
    model = "provider-v4-vision",
  ) {
    const { model: _, ...rest } = changes;
    return renderTranscript(conversation({ messages: [{ role: "user", parts }], ...rest, model }), null);
  }

  it("are named in their place, and the same one is sent once", () => {
    const { sections, attachments } = transcript([
      text("Compare"),
      image(PNG),
      { type: "image", source: { kind: "url", url: "https://pictures.example/cat.jpg?s=1" } },
      image(PNG),
      { type: "file", source: { kind: "file", fileId: "file_9" }, filename: "plan.pdf" },
    ]);
    expect(sections[0]?.text).toBe(
      "Compare\n\n[Attachment 1: image image.png]\n\n[Attachment 2: image cat.jpg]\n\n[Attachment 1: image image.png]\n\n[Attachment 3: document plan.pdf]",
    );
    expect(attachments.map((attachment) => attachment.source.kind)).toEqual(["bytes", "url", "file"]);
  });

  it("that are text are put into the prompt", () => {
    const { sections, attachments } = transcript(
      [file("a,b\n1,2", "text/csv", "t.csv"), file("let x;", "application/octet-stream", "x.ts"), text("?")],
      {},
      "provider-v4-flash",
    );
    expect(sections[0]?.text).toBe(
      "[File t.csv]\na,b\n1,2\n[End of file t.csv]\n\n[File x.ts]\nlet x;\n[End of file x.ts]\n\n?",
    );
    expect(attachments).toEqual([]);
  });

  it("that are documents are sent beside the prompt for any model", () => {
    const { attachments } = transcript([file("%PDF-1.7", "application/pdf")], {}, "provider-v4-flash");
    expect(attachments).toHaveLength(1);
    expect(attachments[0]).toMatchObject({ kind: "document", filename: "document.pdf" });
  });

  it.each<[string, Part]>([
    ["an image part", image(PNG)],
    ["a data URL", { type: "image", source: { kind: "url", url: `data:image/png;base64,${PNG}` } }],
    ["an image's address", { type: "image", source: { kind: "url", url: "https://a.example/b" } }],
    ["an image by file id", { type: "image", source: { kind: "file", fileId: "f" } }],
    ["an image sent as a file", file("x", "image/png")],
  ])("are refused on a model without vision: %s", (_what, part) => {
    const refused = expect.objectContaining({ status: 400, code: "invalid_request", param: "messages" });
    expect(() => transcript([part], {}, "provider-v4-flash")).toThrow(refused);
    expect(() => transcript([part], {}, "provider-v4-flash")).toThrow(GatewayError);
    expect(() => transcript([part])).not.toThrow();
  });

  it.each(["input", "contents", "messages"])("name the caller's field when they are refused: %s", (field) => {
    const spoken = conversation({ messages: [{ role: "user", parts: [image(PNG)] }], contentField: field });
    const refused = expect.objectContaining({ param: field });
    expect(() => renderTranscript(spoken, null)).toThrow(refused);
  });

  it("are read from data URLs in all their forms", () => {
    const urls = [
      "data:image/png;base64,-_8=",
      "data:image/png;base64,-_8",
      "data:image/png;name=a;base64,%2B%2F8%3D",
      "DATA:image/png;base64, +/8 =",
    ];
    for (const url of urls) {
      const { attachments } = transcript([{ type: "image", source: { kind: "url", url } }]);
      expect(attachments[0]?.source, url).toEqual({
        kind: "bytes",
        bytes: new Uint8Array([0xfb, 0xff]),
        mediaType: "image/png",
      });
    }
    expect(
      transcript([{ type: "file", source: { kind: "url", url: "data:,a%20b" } }]).sections[0]?.text,
    ).toContain("a b");
  });

  it.each(["data:image/png;base64", "data:image/png;base64,@@@", "data:image/png,%E0%A4%A"])(
    "that are broken are refused: %s",
    (url) => {
      expect(() => transcript([{ type: "image", source: { kind: "url", url } }])).toThrow(
        expect.objectContaining({ status: 400, code: "invalid_request" }),
      );
    },
  );
});
