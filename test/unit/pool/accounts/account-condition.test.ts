import { describe, expect, it, test } from "vitest";
import { failure } from "../../../support/failures.ts";
import { account, configuration, LIMITS } from "../../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../../support/pool-simulator/pool-simulator.ts";

it("counts accounts by condition, and lists only as many as a screen shows", async () => {
  const ids = Array.from(
    { length: 5_000 },
    (_, index) => `account-${String(index).padStart(4, "0")}@example.test`,
  );
  const simulator = new PoolSimulator();
  simulator.pool.configure({
    accounts: ids.map((id, index) => account(id, { disabled: index < 10 })),
    limits: LIMITS,
  });
  for (const id of ids.slice(0, 30)) simulator.pool.setTestStatus(id, "ok");
  for (const id of ids.slice(30)) simulator.pool.setTestStatus(id, `it failed: ${"x".repeat(400)}`);
  const status = simulator.pool.status(16);
  expect(status.conditions).toEqual({ ok: 20, untested: 0, failing: 4_970, cooling: 0, disabled: 10 });
  expect(status.failing).toHaveLength(16);
  expect(JSON.stringify(status).length).toBeLessThan(20_000);
});

/** An account that requests are sent to. */
class Site {
  readonly simulator = new PoolSimulator();

  constructor() {
    this.simulator.pool.configure(configuration(["only"]));
  }

  ask(...works: readonly boolean[]): this {
    for (const isFine of works) {
      this.simulator.advance(1_000);
      const { lease } = this.simulator.grant({ target: "only" });
      if (!isFine) this.simulator.pool.failed(lease, failure("cut"));
      this.simulator.pool.release(lease);
    }
    return this;
  }

  pass(minutes: number): this {
    this.simulator.advance(minutes * 60_000);
    return this;
  }

  get condition(): string {
    return this.simulator.pool.health(["only"])[0]?.condition ?? "";
  }
}

const [FINE, BAD] = [true, false];

describe("an account is failing", () => {
  test("if most of its requests of the last minutes failed, and not only the last one", () => {
    const site = new Site().ask(FINE, FINE, FINE, BAD);
    expect(site.condition).toBe("ok");
    expect(new Site().ask(BAD).condition).toBe("failing");
    expect(new Site().ask(BAD, FINE).condition).toBe("ok");
    // One lucky request among many failures does not hide them.
    const unlucky = new Site().ask(BAD, BAD).pass(1).ask(BAD).pass(20);
    expect(unlucky.ask(BAD, BAD, FINE).condition).toBe("failing");
  });

  test("by its latest requests, even if they were long ago", () => {
    const site = new Site().ask(BAD, BAD).pass(15).ask(FINE);
    expect(site.condition).toBe("ok");
    expect(site.pass(30).condition).toBe("ok");
    const silent = new Site().ask(FINE, FINE, FINE, FINE, BAD);
    for (const minutes of [9, 40, 300, 3_000]) {
      expect([minutes, silent.pass(minutes).condition]).toEqual([minutes, "ok"]);
    }
    const broken = new Site().ask(FINE).pass(15).ask(BAD, BAD);
    for (const minutes of [40, 300, 3_000]) {
      expect([minutes, broken.pass(minutes).condition]).toEqual([minutes, "failing"]);
    }
  });

  test("also after a restart of the pool", () => {
    const site = new Site().ask(FINE, FINE, BAD);
    // Health is stored some seconds later.
    site.simulator.advance(60_000);
    site.simulator.restart();
    site.simulator.pool.configure(configuration(["only"]));
    expect(site.condition).toBe("ok");
    expect(site.ask(BAD).condition).toBe("ok");
    expect(site.ask(BAD).condition).toBe("failing");
  });

  test("until a test of it succeeds", () => {
    const site = new Site().ask(BAD, BAD).pass(5);
    expect(site.condition).toBe("failing");
    site.simulator.pool.setTestStatus("only", "ok");
    expect(site.condition).toBe("ok");
    expect(site.ask(BAD).condition).toBe("failing");
  });
});
