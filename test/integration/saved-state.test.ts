import { rm } from "node:fs/promises";
import { expect, it } from "vitest";
import { startGateway } from "../support/gateway.ts";
import { readAnswers, restoreState, SAVED_OPTIONS } from "../support/saved-state.ts";

it("reads the stored state of an earlier build: the same answers, and clients go on", async () => {
  const { state, folder } = await restoreState();
  const gateway = await startGateway({ ...SAVED_OPTIONS, dataFolder: folder, clockAt: state.savedAt });
  try {
    // Later builds may add fields. Accounts sign in again: what they had stored does not say from which endpoint it is.
    const expected: typeof state.answers = JSON.parse(
      JSON.stringify(state.answers, (name, value: unknown) =>
        name === "has_token" || name === "token_preview" ? undefined : value,
      ),
    );
    expect(await readAnswers(gateway, Object.keys(state.answers))).toMatchObject(expected);
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
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);
