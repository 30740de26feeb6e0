import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../../scripts/development.mjs";
import { descendants, isRunning } from "../../support/processes.ts";

it("ends a browser that ignores signals once the program that started it has ended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "polygate-egress-"));
  const browser = join(folder, "browser");
  writeFileSync(browser, "#!/bin/sh\ntrap '' INT TERM HUP\nwhile :; do sleep 1; done\n", { mode: 0o755 });
  const egress = join(root, "scripts", "browser-egress.mjs");
  const script = `
    require("node:child_process").spawn(process.execPath, ${JSON.stringify([egress, browser])}, { stdio: "ignore" });
    setInterval(() => undefined, 1_000);`;
  const parent = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
  try {
    const started = () => descendants(parent.pid).filter(({ command }) => command.includes(folder));
    await expect.poll(() => started().length, { timeout: 20_000 }).toBe(2);
    const pids = started().map(({ pid }) => pid);
    for (const pid of pids) process.kill(pid, "SIGTERM");
    parent.kill("SIGKILL");
    await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  } finally {
    parent.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});
