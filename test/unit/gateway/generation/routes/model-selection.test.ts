import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../../../../src/core/conversation/conversation.ts";
import { selectCapableModel } from "../../../../../src/gateway/generation/routes/model-selection.ts";
import { conversation } from "../../../../support/conversations.ts";

const text: Part = { type: "text", text: "See" };
const PNG: Part = { type: "image", source: { kind: "inline", data: "iVBORw0KGgo=", mediaType: "image/png" } };
const inline = (data: string, mediaType: string): Part => ({
  type: "file",
  source: { kind: "inline", data, mediaType },
});
const link = (url: string, mediaType?: string): Part => ({
  type: "file",
  source: { kind: "url", url },
  ...(mediaType === undefined ? {} : { mediaType }),
});

const modelFor = (part: Part, model = "provider-v4-flash") =>
  selectCapableModel(conversation({ model, messages: [{ role: "user", parts: [text, part] }] }), {
    images: "catalogue",
  }).model;

describe("a conversation that holds an image", () => {
  it.each<[string, Part]>([
    ["an image", PNG],
    ["an image's address", { type: "image", source: { kind: "url", url: "https://a.example/b" } }],
    ["an image by file id", { type: "image", source: { kind: "file", fileId: "f" } }],
    ["a file that is one", inline("iVBORw0KGgo=", "image/png")],
    ["a file in a data URL", link("data:image/png;base64,iVBORw0KGgo=")],
    ["a data URL where base64 belongs", inline("data:image/gif;base64,R0lGODlh", "application/octet-stream")],
    ["an address of which the caller says so", link("https://a.example/b", "Image/PNG; a=b")],
  ])("goes to the model with vision: %s", (_, part) => {
    expect(modelFor(part)).toMatchObject({ id: "provider-v4-vision", requested: "provider-v4-flash" });
  });

  it.each<[string, Part]>([
    ["text", text],
    ["a document", inline("JVBERi0=", "application/pdf")],
    ["an address", link("https://a.example/b.png")],
  ])("goes to the requested model without an image: %s", (_, part) => {
    expect(modelFor(part).id).toBe("provider-v4-flash");
  });

  it.each([
    ["provider-v4-pro", "provider-v4-vision"],
    ["provider-v4-pro-nothinking", "provider-v4-vision-nothinking"],
    ["provider-v4-flash-search-nothinking", "provider-v4-vision-nothinking"],
    ["provider-v4-vision", "provider-v4-vision"],
    ["gpt-4o", "provider-v4-vision"],
  ])("keeps the variant for thinking: %s goes to %s", (model, seen) => {
    expect(modelFor(PNG, model)).toMatchObject({ id: seen, requested: model });
  });

  it("is recognized by images anywhere, also in tool results", () => {
    const shot: Message = { role: "tool", callId: "a", parts: [PNG] };
    const later: Message = { role: "user", parts: [text] };
    const messages = [later, shot, later];
    expect(selectCapableModel(conversation({ messages }), { images: "catalogue" }).model.id).toBe(
      "provider-v4-vision",
    );
  });

  it("stays with its model if the backend decides", () => {
    const seen = conversation({ messages: [{ role: "user", parts: [PNG] }] });
    expect(selectCapableModel(seen, { images: "backend" }, true)).toBe(seen);
  });

  it("may contain it as an uploaded file", () => {
    const file: Part = { type: "file", source: { kind: "file", fileId: "f" } };
    const asked = conversation({ messages: [{ role: "user", parts: [file] }] });
    expect(selectCapableModel(asked, { images: "catalogue" }, true).model.id).toBe("provider-v4-vision");
    expect(selectCapableModel(asked, { images: "catalogue" }, false)).toBe(asked);
  });
});

describe("a conversation that asks for a web search", () => {
  const searching = (model: string, abilities: Parameters<typeof selectCapableModel>[1]) =>
    selectCapableModel(
      { ...conversation({ model, messages: [{ role: "user", parts: [text] }] }), webSearch: {} },
      abilities,
    ).model;

  it.each([
    ["provider-v4-flash", "provider-v4-flash-search"],
    ["provider-v4-pro-nothinking", "provider-v4-pro-search-nothinking"],
    ["provider-v4-pro-search", "provider-v4-pro-search"],
    ["provider-v4-vision", "provider-v4-vision"],
  ])("of %s goes to %s", (asked, model) => {
    expect(searching(asked, { images: "catalogue", search: "catalogue" })).toMatchObject({
      id: model,
      requested: asked,
    });
  });

  describe("that also declares its own tools, as coding agents do,", () => {
    const abilities = { images: "catalogue", search: "catalogue" } as const;
    const messages: Message[] = [{ role: "user", parts: [text] }];
    const offered = { ...conversation({ messages }), tools: [{ name: "shell" }], webSearch: { maxUses: 3 } };

    it("stays with its model, without a search", () => {
      const { model, webSearch } = selectCapableModel(offered, abilities);
      expect({ id: model.id, webSearch }).toEqual({ id: "provider-v4-flash", webSearch: undefined });
    });

    it("gets a search if it requires one", () => {
      const asked = { ...offered, webSearch: { maxUses: 3, isRequested: true } };
      expect(selectCapableModel(asked, abilities)).toMatchObject({
        model: { id: "provider-v4-flash-search" },
        webSearch: { maxUses: 3 },
      });
    });

    it("gets a search if the model or the backend supports it", () => {
      const chosen = { ...offered, model: conversation({ model: "provider-v4-pro-search" }).model };
      expect(selectCapableModel(chosen, abilities)).toBe(chosen);
      expect(selectCapableModel(offered, { images: "backend" })).toBe(offered);
    });

    it("stays with its provider's model, which does not search", () => {
      const searching = { ...offered.model, id: "other", provider: "p" };
      const model = { ...offered.model, provider: "p", searchVariant: searching };
      const { webSearch, ...plain } = { ...offered, model };
      expect(selectCapableModel({ ...plain, webSearch }, abilities)).toEqual(plain);
      const asked = { ...plain, webSearch: { isRequested: true } };
      expect(selectCapableModel(asked, abilities).model.id).toBe("other");
    });
  });

  it("stays with its model if no model searches", () => {
    expect(searching("provider-v4-flash", { images: "backend" }).id).toBe("provider-v4-flash");
  });
});
