import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DATA_VERSION } from "../../src/core/storage/data-version.ts";
import { type Gateway, startGateway } from "../support/gateway.ts";
import { readAnswers, restoreState, SAVED_OPTIONS, type SavedState } from "../support/saved-state.ts";

let state: SavedState;
let folder: string;

beforeEach(async () => {
  ({ state, folder } = await restoreState());
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const start = () => startGateway({ ...SAVED_OPTIONS, dataFolder: folder, clockAt: state.savedAt });

/** Expects the answers that the earlier build gave. Later builds may add fields. */
async function expectSavedAnswers(gateway: Gateway): Promise<void> {
  // Accounts sign in again: what they had stored does not say from which endpoint it is.
  const without = (names: readonly string[], answer: unknown): unknown =>
    JSON.parse(JSON.stringify(answer, (name, value: unknown) => (names.includes(name) ? undefined : value)));
  const expected = Object.fromEntries(
    Object.entries(state.answers).map(([path, answer]) => {
      // A total begins with an hour, no longer with a day.
      const changed = path.startsWith("/admin/usage") ? ["at"] : [];
      return [path, without(["has_token", "token_preview", ...changed], answer)];
    }),
  );
  expect(await readAnswers(gateway, Object.keys(state.answers))).toMatchObject(expected);
}

/** The files that hold a data version: one, whatever the runtime. Calls `change` with its database. */
async function withVersionedData<T>(change: (database: DatabaseSync) => T): Promise<T> {
  const names = await readdir(folder, { recursive: true });
  for (const name of names.filter((file) =>
    /\/polygate-Configuration\/[0-9a-f]+\.sqlite$|\.db$/.test(file),
  )) {
    const database = new DatabaseSync(join(folder, name));
    try {
      return change(database);
    } finally {
      database.close();
    }
  }
  throw new Error(`no data with a version among ${names.join(", ")}`);
}

const setDataVersion = (version: number) =>
  withVersionedData((database) => database.prepare("update data_version set version = ?").run(version));
const dataVersion = () =>
  withVersionedData((database) => database.prepare("select version from data_version").get()?.["version"]);

/** Why a gateway does not answer: the error of its start, or its log after a request. */
async function reasonNotToAnswer(): Promise<string> {
  let gateway: Gateway;
  try {
    gateway = await start();
  } catch (error) {
    return String(error);
  }
  try {
    const answers = await readAnswers(gateway, ["/admin/keys", "/v1/files"]);
    for (const answer of Object.values(answers)) expect(answer).toMatchObject({ status: 500 });
    return gateway.logs().join("\n");
  } finally {
    await gateway.close();
  }
}

it("reads the stored state of an earlier build, with the same answers", async () => {
  const gateway = await start();
  try {
    await expectSavedAnswers(gateway);
    const headers = { authorization: "Bearer sk-of-the-saved-state", "content-type": "application/json" };
    const files = await gateway.fetch("/v1/files", { headers });
    expect(await files.json()).toMatchObject({ data: [{ filename: "notes.txt", purpose: "assistants" }] });
    const continued = await gateway.fetch("/v1/responses", {
      method: "POST",
      headers,
      body: JSON.stringify({
        model: "my-model",
        input: "[[say:Continued]]",
        previous_response_id: state.responseId,
      }),
    });
    expect([continued.status, await continued.text()]).toEqual([200, expect.stringContaining("Continued")]);
  } finally {
    await gateway.close();
  }
}, 60_000);

// The newer build is simulated: its data has a higher version.
it("refuses the data of a newer build in a sentence, and leaves it as that build needs it", async () => {
  const upgraded = await start();
  await readAnswers(upgraded, ["/admin/keys"]);
  await upgraded.close();
  expect(await dataVersion()).toBe(DATA_VERSION);
  await setDataVersion(DATA_VERSION + 1);
  expect(await reasonNotToAnswer()).toMatch(
    `A newer version of Polygate has written this data (data version ${DATA_VERSION + 1}; this build reads up to ${DATA_VERSION}).`,
  );
  expect(await dataVersion()).toBe(DATA_VERSION + 1);
  await setDataVersion(DATA_VERSION);
  const again = await start();
  try {
    await expectSavedAnswers(again);
  } finally {
    await again.close();
  }
}, 60_000);
