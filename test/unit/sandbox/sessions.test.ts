import { describe, expect, it } from "vitest";
import { plainTurn, SandboxClient } from "./client.ts";

describe("sessions", () => {
  it("are listed by page, counted and deleted separately for each account", async () => {
    const one = new SandboxClient("sandbox-token-one");
    const two = new SandboxClient("sandbox-token-two", one.provider);
    for (let count = 0; count < 5; count++) await one.openSession();
    await two.openSession();

    const first = await one.json("GET", "/api/sessions?limit=3");
    expect(first).toMatchObject({ total: 5 });
    expect(first["data"]).toHaveLength(3);
    const second = await one.json("GET", `/api/sessions?limit=3&cursor=${first["next_cursor"]}`);
    expect(second["data"]).toHaveLength(2);
    expect(second["next_cursor"]).toBeNull();
    const ids = JSON.stringify([first["data"], second["data"]]).match(/session-\d+/g);
    expect(new Set(ids).size).toBe(5);

    expect((await two.send("DELETE", `/api/sessions/${one.session}`)).status).toBe(404);
    expect((await one.send("DELETE", `/api/sessions/${one.session}`)).status).toBe(204);
    expect((await one.send("DELETE", `/api/sessions/${one.session}`)).status).toBe(404);
    expect(await one.json("DELETE", "/api/sessions")).toEqual({ deleted: 4 });
    expect(await two.json("GET", "/api/account")).toMatchObject({ session_count: 1 });
  });

  it.each([
    ["POST", "/api/sessions/none/turns", 404],
    ["PUT", "/api/sessions", 405],
    ["GET", "/api/elsewhere", 404],
    ["GET", "/elsewhere", 404],
    ["GET", "/api/sessions?limit=0", 400],
    ["GET", "/api/sessions?limit=x", 400],
  ])("%s %s is %i", async (method, path, status) => {
    expect((await new SandboxClient().send(method, path)).status).toBe(status);
  });
});

describe("a turn", () => {
  it.each([
    ["no object", []],
    ["an unknown field", { ...plainTurn, prompt: "x", user: "me" }],
    ["no prompt", plainTurn],
    ["a blank prompt", { ...plainTurn, prompt: " " }],
    ["an unknown model", { ...plainTurn, prompt: "x", model: "gpt" }],
    ["no parent", { ...plainTurn, prompt: "x", parent_message_id: undefined }],
    ["a parent of another session", { ...plainTurn, prompt: "x", parent_message_id: "message-00000001" }],
    ["thinking as text", { ...plainTurn, prompt: "x", thinking: "yes" }],
    ["search missing", { ...plainTurn, prompt: "x", search: undefined }],
    ["files as text", { ...plainTurn, prompt: "x", file_ids: "file-1" }],
    ["a hot temperature", { ...plainTurn, prompt: "x", temperature: 3 }],
    ["a stop of the wrong type", { ...plainTurn, prompt: "x", stop: [1] }],
  ])("is refused with %s", async (_name, body) => {
    const client = new SandboxClient();
    await client.turn("to have a message elsewhere");
    await client.openSession();
    const response = await client.send("POST", `/api/sessions/${client.session}/turns`, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_request" } });
  });

  it("is refused if it is not JSON or not declared as JSON", async () => {
    const client = new SandboxClient();
    await client.openSession();
    for (const type of ["application/json", "text/plain"]) {
      const body = type === "text/plain" ? JSON.stringify({ ...plainTurn, prompt: "x" }) : "{";
      const headers = { authorization: "Bearer sandbox-token-test", "content-type": type };
      const url = `http://sandbox/api/sessions/${client.session}/turns`;
      expect((await client.provider.fetch(new Request(url, { method: "POST", headers, body }))).status).toBe(
        400,
      );
    }
  });

  it("may follow a message of its session", async () => {
    const client = new SandboxClient();
    const { messageId } = await client.turn("first");
    expect((await client.turn("second", { parent_message_id: messageId })).finish).toBe("stop");
  });

  it("is among the last hundred in the state that tests can read", async () => {
    const client = new SandboxClient();
    for (let count = 1; count <= 103; count++) await client.turn(`turn ${count}`, { temperature: 0.5 });
    const state = await client.json("GET", "/sandbox/state");
    expect(state).toMatchObject({ turn_count: 103, sessions: { "token-test": 1 } });
    const turns: unknown[] = Array.isArray(state["turns"]) ? state["turns"] : [];
    expect(turns).toHaveLength(100);
    expect(turns.at(-1)).toMatchObject({ account: "token-test", prompt: "turn 103", temperature: 0.5 });
    await client.send("POST", "/sandbox/reset");
    expect(await client.json("GET", "/sandbox/state")).toMatchObject({
      turn_count: 0,
      sessions: {},
      turns: [],
    });
  });
});

describe("files", () => {
  const form = (name: string, text: string): FormData => {
    const data = new FormData();
    data.set("file", new File([text], name));
    data.set("purpose", "assistants");
    return data;
  };

  it("belong to the account that uploaded them", async () => {
    const one = new SandboxClient("sandbox-token-one");
    const two = new SandboxClient("sandbox-token-two", one.provider);
    const file = await one.json("POST", "/api/files", form("notes.txt", "héllo"));
    expect(file).toMatchObject({
      bytes: 6,
      filename: "notes.txt",
      purpose: "assistants",
      status: "processed",
    });
    expect(await one.json("GET", `/api/files/${file["id"]}`)).toEqual(file);
    expect((await two.send("GET", `/api/files/${file["id"]}`)).status).toBe(404);
    expect((await one.turn("see file", { file_ids: [file["id"]] })).text).toContain("notes.txt (6 bytes)");
    expect((await two.turn("see file", { file_ids: [file["id"]] })).status).toBe(404);
  });

  it("can be pending, then processed", async () => {
    const client = new SandboxClient();
    const { id } = await client.json("POST", "/api/files", form("pending.txt", "x"));
    expect((await client.turn("x", { file_ids: [id] })).status).toBe(400);
    expect(await client.json("GET", `/api/files/${id}`)).toMatchObject({ status: "pending" });
    expect(await client.json("GET", `/api/files/${id}`)).toMatchObject({ status: "processed" });
    expect((await client.turn("x", { file_ids: [id] })).status).toBe(200);
  });

  it("may contain the conversation that the prompt refers to", async () => {
    const client = new SandboxClient();
    const transcript = "### System\n\nBe kind.\n\n### User\n\n[[say:from the file]]";
    const { id } = await client.json("POST", "/api/files", form("transcript.txt", transcript));
    expect((await client.turn("Answer the attached transcript.", { file_ids: [id] })).text).toBe(
      "from the file",
    );
  });

  it("are accepted only as multipart", async () => {
    expect((await new SandboxClient().send("POST", "/api/files", { file: "x" })).status).toBe(400);
  });
});
