import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../../../../src/core/conversation/conversation.ts";
import { GatewayError } from "../../../../../src/core/errors/gateway-error.ts";
import { conversation, type FakeUpstream, neverAborted, prepareOptions } from "../support.ts";

import { json, open, provider, slept, upstream } from "./fake.ts";

describe("attachments of a turn", () => {
  const image: Part = {
    type: "image",
    source: { kind: "inline", data: btoa("PNG"), mediaType: "image/png" },
  };
  const pdf: Part = {
    type: "file",
    source: { kind: "inline", data: btoa("%PDF"), mediaType: "application/pdf" },
    filename: 'pl"an.pdf',
  };
  const remote: Part = { type: "image", source: { kind: "url", url: "https://pictures.example/a.jpg" } };
  const known: Part = { type: "file", source: { kind: "file", fileId: "file_known" } };
  const asking = (...parts: Part[]) =>
    conversation({ model: "provider-v4-vision", messages: [{ role: "user", parts }] });

  it("are uploaded and referred to, each once", async () => {
    const fake = upstream({ "/api/files/file_known": () => json({ id: "file_known", status: "processed" }) });
    const fetched: string[] = [];
    await open(fake, asking(image, remote, image, pdf, known, remote), {
      fetchAttachment: async (url) => {
        fetched.push(url);
        return { bytes: new TextEncoder().encode("JPEG"), mediaType: "image/jpeg" };
      },
    });
    expect(fetched).toEqual(["https://pictures.example/a.jpg"]);
    const uploads = fake.seen.filter((request) => request.url.endsWith("/api/files"));
    const forms = await Promise.all(uploads.map((request) => request.form()));
    const sent = await Promise.all(
      forms.map(async (form) => {
        const file = form.get("file");
        if (!(file instanceof File)) throw new Error("no file");
        return [file.name, file.type, await file.text(), form.get("purpose"), form.get("model")];
      }),
    );
    expect(sent).toHaveLength(3);
    expect(sent).toContainEqual(["image.png", "image/png", "PNG", "user_data", "vision"]);
    expect(sent).toContainEqual(["a.jpg", "image/jpeg", "JPEG", "user_data", "vision"]);
    expect(sent).toContainEqual(['pl"an.pdf', "application/pdf", "%PDF", "user_data", "vision"]);
    const { file_ids: ids } = fake.only("/turns").json();
    expect(ids).toHaveLength(4);
    expect(Array.isArray(ids) && ids[3]).toBe("file_known");
  });

  it("are not uploaded after one of them has failed", async () => {
    const other = Promise.withResolvers<unknown>();
    let uploads = 0;
    const fake = upstream({
      "/api/files": ({ signal }) => {
        uploads += 1;
        if (uploads === 1) return json({ error: { code: "invalid_request", message: "no" } }, 400);
        signal.addEventListener("abort", () => other.resolve(signal.reason), { once: true });
        return new Promise(() => undefined);
      },
    });
    const failing = open(fake, asking(image, pdf)).catch((error: unknown) => error);
    expect(await other.promise).toBe(await failing);
    expect(uploads).toBe(2);
  });

  it("are not uploaded again for a follow-up, but are for another account", async () => {
    const fake = upstream();
    const prepared = provider().prepare(asking(image), prepareOptions());
    const followUp = { sessionId: "s1", parentMessageId: "m1", suffix: "again" };
    await prepared.open(fake.account, neverAborted(), null);
    await prepared.open(fake.account, neverAborted(), followUp);
    const uploads = () => fake.seen.filter((request) => request.url.endsWith("/api/files")).length;
    expect(uploads()).toBe(1);
    await prepared.open({ ...fake.account, token: "another-token" }, neverAborted(), null);
    expect(uploads()).toBe(2);
  });

  it("are waited for until they are processed", async () => {
    const file = { id: "f1", status: "pending" };
    let looks = 0;
    const fake = upstream({
      "/api/files": () => json(file),
      "/api/files/f1": () => json({ ...file, status: ++looks < 3 ? "pending" : "processed" }),
    });
    await open(fake, asking(image));
    expect(looks).toBe(3);
    expect(slept).toHaveLength(3);
    expect(fake.only("/turns").json()["file_ids"]).toEqual(["f1"]);
  });

  it("that were uploaded earlier are waited for too, and must exist", async () => {
    let looks = 0;
    const fake = upstream({
      "/api/files/file_known": () =>
        json({ id: "file_known", status: ++looks < 2 ? "pending" : "processed" }),
    });
    await open(fake, asking(known));
    expect(fake.only("/turns").json()["file_ids"]).toEqual(["file_known"]);
    expect(slept).toHaveLength(1);
    const other = upstream({
      "/api/files/file_known": () => json({ error: { code: "not_found", message: "no" } }, 404),
    });
    await expect(open(other, asking(known))).rejects.toMatchObject({
      status: 404,
      code: "file_not_found",
      param: "messages",
    });
    expect(other.seen.some(({ url }) => url.endsWith("/turns"))).toBe(false);
  });

  it("behind a URL that are pictures are refused for a model without vision", async () => {
    const fake = upstream();
    const link: Part = { type: "file", source: { kind: "url", url: "https://files.example/x" } };
    const what = conversation({ messages: [{ role: "user", parts: [link] }] });
    const fetchAttachment = async () => ({ bytes: new Uint8Array(3), mediaType: "image/png" });
    await expect(open(fake, what, { fetchAttachment })).rejects.toMatchObject({
      status: 400,
      param: "messages",
    });
  });

  it("that the provider cannot process fail the request, without a turn", async () => {
    const fake = upstream({ "/api/files": () => json({ id: "f1", status: "failed" }) });
    await expect(open(fake, asking(image))).rejects.toMatchObject({
      name: "ProviderError",
      kind: "invalid_request",
    });
    const never = upstream({
      "/api/files": () => json({ id: "f1", status: "pending" }),
      "/api/files/f1": () => json({ id: "f1", status: "pending" }),
    });
    await expect(open(never, asking(image))).rejects.toMatchObject({
      name: "ProviderError",
      kind: "timeout",
    });
    expect([...fake.seen, ...never.seen].some(({ url }) => url.includes("sessions"))).toBe(false);
  });

  it("are refused if an address leads to an image and the model has no vision", async () => {
    const fake = upstream();
    const document: Part = { type: "file", source: { kind: "url", url: "https://a.example/scan" } };
    const opened = open(fake, conversation({ messages: [{ role: "user", parts: [document] }] }), {
      fetchAttachment: async () => ({ bytes: new Uint8Array(3), mediaType: "image/png" }),
    });
    await expect(opened).rejects.toMatchObject({ name: "GatewayError", status: 400 });
    expect(fake.seen).toEqual([]);
  });

  it("report why an address may not be fetched", async () => {
    const forbidden = new GatewayError(400, "no", { code: "forbidden_url" });
    const opened = open(upstream(), asking(remote), { fetchAttachment: () => Promise.reject(forbidden) });
    await expect(opened).rejects.toBe(forbidden);
  });
});

describe("a prompt that is too long", () => {
  const history: Message[] = [
    { role: "system", parts: [{ type: "text", text: "Obey." }] },
    { role: "user", parts: [{ type: "text", text: `old ${"x".repeat(3000)}` }] },
    { role: "assistant", parts: [{ type: "text", text: "yes" }], toolCalls: [] },
    { role: "user", parts: [{ type: "text", text: "What now?" }] },
  ];

  async function files(fake: FakeUpstream): Promise<Record<string, string>> {
    const uploads = fake.seen.filter((request) => request.url.endsWith("/api/files"));
    const found: Record<string, string> = {};
    for (const upload of uploads) {
      const file = (await upload.form()).get("file");
      if (file instanceof File) found[file.name] = await file.text();
    }
    return found;
  }

  it("moves into files, except for the current question", async () => {
    const fake = upstream();
    await open(
      fake,
      conversation({ messages: history, tools: [{ name: "a_tool", description: "Does it." }] }),
      {
        inputFileMinChars: 3000,
      },
    );
    const sent = await files(fake);
    expect(Object.keys(sent).sort()).toEqual(["conversation.txt", "tools.txt"]);
    expect(sent["conversation.txt"]).toContain(`### User\n\nold ${"x".repeat(3000)}`);
    expect(sent["conversation.txt"]).toContain("Obey.");
    expect(sent["tools.txt"]).toContain("Does it.");
    const { prompt, file_ids: ids } = fake.only("/turns").json();
    expect(ids).toEqual(["file1", "file2"]);
    // How to call stays at hand, what can be called is looked up.
    expect(prompt).toContain("<|TCML|tool_calls>");
    expect(prompt).not.toContain("Does it.");
    expect(String(prompt).length).toBeLessThan(2000);
    expect(prompt).toMatch(
      /^### System\n\n[\s\S]*conversation\.txt[\s\S]*tools\.txt[\s\S]*### User\n\nWhat now\?\n\n### Assistant\n$/,
    );
  });

  it("stays in the prompt below the limit, or without one", async () => {
    for (const inputFileMinChars of [4000, null]) {
      const fake = upstream();
      await open(fake, conversation({ messages: history }), { inputFileMinChars });
      expect(fake.only("/turns").json()["file_ids"]).toEqual([]);
      expect(fake.only("/turns").json()["prompt"]).toContain("x".repeat(3000));
    }
  });

  it("keeps both ends of a long last message", async () => {
    const fake = upstream();
    const long = `BEGIN ${"x".repeat(50_000)} END`;
    await open(fake, conversation({ messages: [{ role: "user", parts: [{ type: "text", text: long }] }] }), {
      inputFileMinChars: 1000,
    });
    const prompt = String(fake.only("/turns").json()["prompt"]);
    expect(prompt).toMatch(/### User\n\nBEGIN x[\s\S]*left out here[\s\S]*x END\n/);
    expect(prompt.length).toBeLessThan(10_000);
    expect((await files(fake))["conversation.txt"]).toContain(long);
  });

  it("keeps the latest results of a long chain of calls", async () => {
    const fake = upstream();
    const chain = Array.from({ length: 40 }, (_, n): Message[] => [
      { role: "assistant", parts: [], toolCalls: [{ id: `c${n}`, name: "f", arguments: "{}" }] },
      { role: "tool", callId: `c${n}`, parts: [{ type: "text", text: `result ${n} ${"y".repeat(3000)}` }] },
    ]).flat();
    await open(fake, conversation({ messages: [...history, ...chain], tools: [{ name: "f" }] }), {
      inputFileMinChars: 1000,
    });
    const prompt = String(fake.only("/turns").json()["prompt"]);
    expect(prompt).toContain("### User\n\nWhat now?");
    expect(prompt).toContain("result 39 ");
    expect(prompt).toContain("result 35 ");
    expect(prompt).not.toContain("result 5 ");
    expect(prompt.length).toBeLessThan(45_000);
  });
});
