import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutcomeStore } from "../../../../src/core/ports/outcome-store.ts";
import type { Platform } from "../../../../src/core/ports/platform.ts";
import { SqlArchive } from "../../../../src/records/archive/sql-archive.ts";
import { Outbox } from "../../../../src/records/telemetry/outbox.ts";
import { recordRequest } from "../../../../src/records/telemetry/record-request.ts";
import type { RecordSource } from "../../../../src/records/telemetry/waiting-records.ts";
import { SqlUsage } from "../../../../src/records/usage/sql-usage.ts";
import { createOutcomeStore } from "../../../../src/runtime/deno/outcome-store.ts";
import { emptyConfig } from "../../../support/config.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";
import "../../../support/properties.ts";
import { createOutcome } from "../../../support/request-outcome.ts";
import { memoryDatabase } from "../archive/sqlite.ts";
import { write } from "../archive/support.ts";
import { used } from "../usage/support.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const snapshot = { version: 1, config: emptyConfig(), envBacked: false, writable: true };

/** The outbox of a process that has history and usage in itself; `kill` ends the process and starts another one on its storage. */
function setUp() {
  const sql = memoryDatabase();
  const fails = { store: false, messages: false };
  const refuse = (what: keyof typeof fails) => {
    if (fails[what]) throw new Error("database or disk is full");
  };
  const start = () => {
    const archive = new SqlArchive(sql, () => NOW);
    const usage = new SqlUsage(sql, () => NOW);
    const stored = createOutcomeStore(sql, archive, usage);
    const outcomes: OutcomeStore = {
      write: (answer) => {
        refuse("store");
        return stored.write(answer);
      },
    };
    let time = NOW;
    const outbox = new Outbox({
      archive: Object.assign(Object.create(archive), {
        write: (batch: Parameters<SqlArchive["write"]>[0]) => {
          refuse("messages");
          archive.write(batch);
        },
      }),
      usage: {
        write: (message) => {
          refuse("messages");
          usage.write(message);
        },
      },
      outcomes,
      configuration: { read: async () => snapshot },
      now: () => time,
      sleep: async (milliseconds) => {
        time += milliseconds;
      },
    });
    return { archive, usage, outbox };
  };
  let process = start();
  return {
    fails,
    get process() {
      return process;
    },
    async kill() {
      process = start();
      await process.usage.countNotes(snapshot);
    },
    requests: () => process.usage.listKeyUsage().reduce((sum, { requests }) => sum + requests, 0),
    ids: () => process.archive.listHistory({ offset: 0, count: 100, q: "" }).items.map(({ id }) => id),
  };
}

function source(id: string, hasEnded = true): RecordSource {
  return {
    write: () => write(id, { status: hasEnded ? "success" : "streaming" }),
    characters: 0,
    createdAt: 1_000,
    isKnownToArchive: false,
    hasEnded,
    shorten: () => undefined,
    markUndelivered: () => undefined,
  };
}

describe("with history and usage in the process, the outcome of a request", () => {
  it("is stored when it is recorded", async () => {
    const run = setUp();
    run.process.outbox.record(source("ended"));
    run.process.outbox.record(source("under way", false));
    expect(run.process.outbox.endRequest(used(), snapshot)).toBeNull();
    await run.kill();
    expect(run.ids()).toEqual(["ended"]);
    expect(run.process.usage.listKeyUsage()).toMatchObject([
      { key: "key_1", requests: 1, prompt_tokens: 10, completion_tokens: 5, last_used: NOW },
    ]);
  });

  it("is sent with the next message if the store rejects it", async () => {
    const run = setUp();
    run.fails.store = true;
    run.process.outbox.record(source("ended"));
    expect(run.process.outbox.endRequest(used(), snapshot)).toMatchObject({
      message: "database or disk is full",
    });
    expect([run.ids(), run.requests()]).toEqual([[], 0]);
    await run.process.outbox.waitUntilSent();
    expect([run.ids(), run.requests()]).toEqual([["ended"], 1]);
  });

  it("is counted once for any failed messages and a killed process", async () => {
    const action = fc.constantFrom("end", "unstored end", "message", "failed message", "kill");
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 20 }), async (actions) => {
        const run = setUp();
        let stored = 0;
        /** Requests that the memory alone knows of. */
        let unstored = 0;
        for (const each of actions) {
          if (each === "kill") {
            await run.kill();
            unstored = 0;
          } else if (each === "end" || each === "unstored end") {
            run.fails.store = each === "unstored end";
            run.process.outbox.endRequest(used(), snapshot);
            if (run.fails.store) unstored += 1;
            else stored += 1;
          } else {
            run.fails.messages = each === "failed message";
            await run.process.outbox.usage
              .send(
                {
                  write: (message) => {
                    if (run.fails.messages) throw new Error("database or disk is full");
                    run.process.usage.write(message);
                  },
                },
                snapshot,
                NOW,
              )
              .catch(() => undefined);
            if (run.fails.messages) continue;
            stored += unstored;
            unstored = 0;
          }
        }
        await run.kill();
        expect(run.requests()).toBe(stored);
      }),
    );
  });

  it("that was not stored is reported, and its usage is counted", async () => {
    const memory = await memoryPlatform();
    const outcomes: OutcomeStore = {
      write: () => {
        throw new Error("database or disk is full");
      },
    };
    const platform: Platform = { ...memory, outcomes };
    const outcome = createOutcome({
      facts: { dialect: "chat-completions", operation: "chat", model: "flash" },
    });
    const { failure, sending } = recordRequest(platform, outcome, snapshot);
    expect(failure?.message).toBe("database or disk is full");
    await sending;
    expect(await platform.usage.listKeyUsage()).toMatchObject([{ requests: 1 }]);
  });
});
