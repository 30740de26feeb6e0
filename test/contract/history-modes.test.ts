import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { useAdmin } from "../support/use-admin.ts";

/** Contract, What history and captures keep of a key's requests. */

const { admin, fetch } = useAdmin();

const SECRETS = ["ada@example.com", "4111 1111 1111 1111", "+49 30 1234567", "sk-abcdefghijklmnopqrstuv"];
const QUESTION = `remember this word: walnut. ${SECRETS.join(" ; ")}`;

interface Item {
  readonly id: string;
  readonly key: string;
}

const itemsOf = (body: Readonly<Record<string, unknown>>): Item[] =>
  JSON.parse(JSON.stringify(body["items"] ?? []));

/** Asks with a new key, and returns what is kept of it: the records and the captures, each as a text. */
async function keptOf(settings: Record<string, unknown>, stream: boolean, headers = {}) {
  const { body: added, status } = await admin("POST", "/admin/keys", settings);
  expect([status, added]).toMatchObject([200, { success: true }]);
  const key = String(added["id"]);
  const ask = async (secret: string, more = {}) => {
    const answer = await fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...more },
      body: JSON.stringify({
        model: "provider-v4-flash",
        stream,
        messages: [{ role: "user", content: `[[echo]]${QUESTION}` }],
      }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
  };
  await ask(String(added["key"]), headers);
  // A record of a later request tells that everything before has been stored.
  const { body: marker } = await admin("POST", "/admin/keys", { name: "marker" });
  await ask(String(marker["key"]));
  // A parameter with the name `key` would be taken for a credential.
  const recordsOf = async (id: unknown) =>
    itemsOf((await admin("GET", "/admin/chat-history?page_size=100")).body).filter((item) => item.key === id);
  await until(
    () => recordsOf(marker["id"]),
    (items) => items.length === 1,
  );
  const captured = async (id: unknown) =>
    itemsOf((await admin("GET", "/admin/dev/captures")).body).filter((item) => item.key === id);
  await until(
    () => captured(marker["id"]),
    (items) => items.length > 0,
  );
  const texts = async (path: string, items: readonly Item[]) =>
    Promise.all(items.map(async ({ id }) => JSON.stringify((await admin("GET", `${path}/${id}`)).body)));
  return {
    records: await texts("/admin/chat-history", await recordsOf(key)),
    captures: await texts("/admin/dev/captures", await captured(key)),
  };
}

const holds = (text: string | undefined, parts: readonly string[]) =>
  parts.filter((part) => text?.includes(part) === true);

describe.each([false, true])("the history mode (streamed: %s)", (stream) => {
  beforeAll(async () => {
    await admin("PUT", "/admin/settings", { captures: { enabled: true, limit: 100 } });
  });

  it("full stores everything", async () => {
    const { records, captures } = await keptOf({ history: "full" }, stream);
    expect(records).toHaveLength(1);
    expect(holds(records[0], ["walnut", ...SECRETS])).toHaveLength(5);
    expect(captures.some((text) => holds(text, SECRETS).length === 4)).toBe(true);
  });

  it("redacted stores texts without personal data", async () => {
    const { records, captures } = await keptOf({ history: "redacted" }, stream);
    expect(records).toHaveLength(1);
    expect(holds(records[0], ["walnut", "[email]", "[card]", "[phone]", "[key]"])).toHaveLength(5);
    for (const text of [...records, ...captures]) expect(holds(text, SECRETS)).toEqual([]);
    expect(captures.some((text) => text.includes("walnut"))).toBe(true);
  });

  it("no_texts of the key's team stores numbers only", async () => {
    const team = `quiet-${stream}`;
    await admin("POST", "/admin/teams", { id: team, history: "no_texts" });
    const { records, captures } = await keptOf({ team, history: "redacted" }, stream);
    expect(records).toHaveLength(1);
    expect(JSON.parse(records[0] ?? "{}")).toMatchObject({ status: "success", messages: [], prompt: "" });
    for (const text of [...records, ...captures]) expect(holds(text, ["walnut", ...SECRETS])).toEqual([]);
    expect(captures.length).toBeGreaterThan(0);
  });

  it("none of a tag of the request stores nothing", async () => {
    const id = `private-${stream}`;
    await admin("POST", "/admin/tags", { id, history: "none" });
    const listing = await keptOf({ allowed_tags: [id] }, stream, { "x-gateway-tags": id });
    expect([listing.records, listing.captures]).toEqual([[], []]);
  });

  it("none of a tag has no effect if no list of allowed tags names the tag", async () => {
    const id = `hiding-${stream}`;
    await admin("POST", "/admin/tags", { id, history: "none" });
    const { records } = await keptOf({}, stream, { "x-gateway-tags": id });
    expect(records).toHaveLength(1);
  });
});
