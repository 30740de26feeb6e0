import { describe, expect, it, vi } from "vitest";
import type { Message } from "../../../../../src/core/conversation/conversation.ts";
import { conversation, FakeUpstream, neverAborted, prepareOptions } from "../support.ts";

import { json, open, provider, readAll, upstream } from "./fake.ts";

describe("opening a turn", () => {
  it("creates a session and posts the turn to it", async () => {
    const fake = upstream();
    const turn = await open(
      fake,
      conversation({
        thinking: true,
        options: { temperature: 0.5, topP: 0.9, stop: ["END"], maxTokens: 5, seed: 1 },
      }),
    );
    expect(turn.sessionId).toBe("s/1");
    expect((await readAll(turn)).events).toContainEqual({ type: "text", text: "Hi" });
    expect(fake.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "POST https://provider.example/base/api/sessions",
      "POST https://provider.example/base/api/sessions/s%2F1/turns",
    ]);
    for (const { headers, redirect } of fake.seen) {
      expect(headers.get("authorization")).toBe("Bearer token-of-the-account");
      // A redirect would carry the token elsewhere.
      expect(redirect).toBe("manual");
    }
    expect(fake.only("/turns").json()).toEqual({
      parent_message_id: null,
      model: "flash",
      prompt: "### User\n\nHello\n\n### Assistant\n",
      file_ids: [],
      thinking: true,
      search: false,
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
    });
  });

  it.each([
    ["provider-v4-pro", { model: "pro", thinking: true, search: false }],
    ["provider-v4-pro-nothinking", { model: "pro", thinking: false, search: false }],
    ["provider-v4-flash-search", { model: "flash", thinking: true, search: true }],
    ["provider-v4-flash-search-nothinking", { model: "flash", thinking: false, search: true }],
    ["provider-v4-vision", { model: "vision", thinking: true, search: false }],
    ["claude-sonnet-4-5", { model: "flash", thinking: true, search: false }],
  ])("sends the provider's settings for %s", async (model, expected) => {
    const fake = upstream();
    await open(fake, conversation({ model, thinking: true }));
    expect(fake.only("/turns").json()).toMatchObject(expected);
  });

  it("stays in the session for a follow-up, below the empty message, with the suffix", async () => {
    const fake = upstream();
    const prepared = provider().prepare(conversation(), prepareOptions());
    const followUp = { sessionId: "s9", parentMessageId: "m7", suffix: "Say it visibly." };
    const turn = await prepared.open(fake.account, neverAborted(), followUp);
    expect(turn.sessionId).toBe("s9");
    expect(fake.seen).toHaveLength(1);
    const { parent_message_id: parent, prompt } = fake.only("/api/sessions/s9/turns").json();
    expect(parent).toBe("m7");
    expect(prompt).toContain("### User\n\nHello");
    expect(prompt).toContain("Say it visibly.");
  });

  it("reports the session even if the turn is refused", async () => {
    const fake = upstream({ "/turns": () => json({ error: { code: "rate_limited" } }, 429) });
    const sessions: Promise<string>[] = [];
    const prepared = provider().prepare(conversation(), prepareOptions());
    const opened = prepared.open(fake.account, neverAborted(), null, (session) => sessions.push(session));
    await expect(opened).rejects.toMatchObject({ kind: "rate_limited" });
    expect(await Promise.all(sessions)).toEqual(["s/1"]);
  });

  it("reports the session even if the caller has left, so that it can be deleted", async () => {
    const left = new AbortController();
    const making = Promise.withResolvers<Response>();
    const fake = upstream({ "/api/sessions": () => making.promise });
    const sessions: Promise<string>[] = [];
    const prepared = provider().prepare(conversation(), prepareOptions());
    const opened = prepared.open(fake.account, left.signal, null, (session) => sessions.push(session));
    await vi.waitFor(() => expect(fake.seen).toHaveLength(1));
    left.abort(new Error("the client left"));
    await expect(opened).rejects.toThrow("the client left");
    making.resolve(json({ id: "s/1" }, 201));
    expect(await Promise.all(sessions)).toEqual(["s/1"]);
    expect(fake.seen).toHaveLength(1);
  });

  it("continues an incomplete message", async () => {
    const fake = upstream();
    const turn = await provider().resume(fake.account, "s1", "m 1", neverAborted());
    expect(fake.only("/api/sessions/s1/turns/m%201/continue").method).toBe("POST");
    expect((await readAll(turn)).failure).toBeNull();
  });

  it("estimates from everything that the model reads", () => {
    const messages: Message[] = [
      { role: "system", parts: [{ type: "text", text: "SYSTEM" }] },
      { role: "user", parts: [{ type: "text", text: "x".repeat(5000) }] },
    ];
    const { promptText } = provider().prepare(
      conversation({ messages, tools: [{ name: "a_tool" }] }),
      prepareOptions({ inputFileMinChars: 100 }),
    );
    for (const piece of ["SYSTEM", "x".repeat(5000), "a_tool"]) expect(promptText).toContain(piece);
  });
});

describe("accounts and sessions", () => {
  const credentials = { email: "", mobile: "", password: "secret-password", token: "" };

  it("sign in with e-mail or mobile", async () => {
    const fake = new FakeUpstream(() => json({ token: "t1", expires_at: 1234 }));
    const signedIn = await provider().signIn(
      { ...credentials, email: "a@b.example" },
      fake.fetch,
      neverAborted(),
    );
    expect(signedIn).toEqual({ token: "t1", expiresAt: 1234 });
    await provider().signIn({ ...credentials, mobile: "+47 1" }, fake.fetch, neverAborted());
    expect(fake.seen.map((request) => request.json())).toEqual([
      { email: "a@b.example", password: "secret-password" },
      { mobile: "+47 1", password: "secret-password" },
    ]);
    expect(fake.seen[0]?.url).toBe("https://provider.example/base/api/login");
    expect(fake.seen[0]?.headers.get("authorization")).toBeNull();
  });

  it("need no sign-in if the account has a token", async () => {
    const fake = new FakeUpstream(() => json({}));
    const signedIn = await provider().signIn(
      { ...credentials, password: "", token: "t" },
      fake.fetch,
      neverAborted(),
    );
    expect(signedIn).toEqual({ token: "t", expiresAt: 0 });
    expect(fake.seen).toEqual([]);
  });

  it("distinguish wrong credentials from an answer without a token", async () => {
    const email = { ...credentials, email: "a@b.example" };
    const refused = new FakeUpstream(() => json({ error: { message: "secret-password is wrong" } }, 401));
    const failure = await provider()
      .signIn(email, refused.fetch, neverAborted())
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "invalid_credentials", status: 401 });
    expect(String(failure)).not.toContain("secret-password");
    const odd = new FakeUpstream(() => json({ expires_at: 1 }));
    await expect(provider().signIn(email, odd.fetch, neverAborted())).rejects.toMatchObject({
      kind: "malformed",
    });
  });

  it("are described, listed and deleted", async () => {
    const fake = new FakeUpstream(({ method, url }) => {
      if (url.endsWith("/api/account")) return json({ id: "acc", session_count: 3 });
      if (method === "POST") return json({ id: "s1" });
      return url.endsWith("/api/sessions") ? json({ deleted: 12 }) : new Response(null, { status: 204 });
    });
    const driver = provider();
    expect(await driver.checkAccount(fake.account, neverAborted())).toEqual({
      id: "acc",
      sessionCount: 3,
    });
    expect(await driver.sessions.create(fake.account, neverAborted())).toBe("s1");
    await driver.sessions.delete(fake.account, "a/b", neverAborted());
    expect(await driver.sessions.deleteAll(fake.account, neverAborted())).toBe(12);
    expect(fake.seen.map(({ method, url }) => `${method} ${url.slice(29)}`)).toEqual([
      "GET /api/account",
      "POST /api/sessions",
      "DELETE /api/sessions/a%2Fb",
      "DELETE /api/sessions",
    ]);
  });
});

describe("invalid numbers", () => {
  it.each(["2e308", "1e300", "-5", '"12"', "null"])("are ignored: %s", async (number) => {
    const texts = [
      `{"token":"t1","expires_at":${number}}`,
      `{"id":"f1","bytes":${number},"created_at":${number}}`,
    ];
    const fake = new FakeUpstream(() => new Response(texts.shift()));
    const credentials = { email: "a@b.example", mobile: "", password: "secret-password", token: "" };
    expect((await provider().signIn(credentials, fake.fetch, neverAborted())).expiresAt).toBe(0);
    const file = await provider().files.read(fake.account, "f1", neverAborted());
    expect(file.createdAt).toBe(0);
    expect(Number.isSafeInteger(file.bytes) && file.bytes >= 0).toBe(true);
  });
});

describe("files", () => {
  const object = {
    id: "f1",
    bytes: 6,
    filename: "a.txt",
    purpose: "assistants",
    status: "processed",
    created_at: 9,
  };

  it("pass through as they stream in", async () => {
    const fake = new FakeUpstream(() => json(object));
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new TextEncoder().encode(`${pulled},`));
        if (pulled === 3) controller.close();
      },
    });
    const upload = {
      filename: "größe.txt",
      mediaType: "text/plain",
      purpose: "assistants",
      model: "flash",
      body,
    };
    expect(await provider().files.upload(fake.account, upload, neverAborted())).toEqual({
      id: "f1",
      bytes: 6,
      filename: "a.txt",
      purpose: "assistants",
      status: "processed",
      createdAt: 9,
    });
    const form = await fake.only("/api/files").form();
    const file = form.get("file");
    expect(file instanceof File && [file.name, await file.text()]).toEqual(["größe.txt", "1,2,3,"]);
    expect([form.get("purpose"), form.get("model")]).toEqual(["assistants", "flash"]);
  });

  it("are read, and distinguished from missing ones", async () => {
    const fake = new FakeUpstream(({ url }) => (url.endsWith("/f1") ? json(object) : json({}, 404)));
    expect((await provider().files.read(fake.account, "f1", neverAborted())).id).toBe("f1");
    await expect(provider().files.read(fake.account, "f2", neverAborted())).rejects.toMatchObject({
      kind: "not_found",
    });
  });
});
