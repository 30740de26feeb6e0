import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import puppeteer, { type Browser, type ConnectionTransport } from "@cloudflare/puppeteer";
import { browserExecutable } from "./browser.ts";

/** A running browser. */
export interface TestBrowser {
  readonly browser: Browser;
  /** Ends the browser. Resolves when its process and its profile are gone. */
  close(): Promise<void>;
}

/**
 * Starts a real browser for the page service's own code in this process. It speaks the DevTools protocol through pipes, so it
 * ends with this process.
 */
export async function launchChromium(): Promise<TestBrowser> {
  const profile = mkdtempSync(join(tmpdir(), "polygate-test-browser-"));
  const child = spawn(
    browserExecutable() ?? "",
    ["--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank"],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
  );
  const [commands, events] = [child.stdio[3], child.stdio[4]];
  if (!(commands instanceof Writable && events instanceof Readable)) throw new Error("There are no pipes.");
  const transport: ConnectionTransport = {
    send: (message) => {
      commands.write(`${message}\0`);
    },
    close: () => {
      child.kill("SIGKILL");
    },
  };
  // The browser may end before a last command reaches it.
  commands.on("error", () => undefined);
  readMessages(events, (message) => transport.onmessage?.(message));
  const ended = new Promise<void>((resolve) => {
    child.on("close", () => {
      transport.onclose?.();
      rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
      resolve();
    });
  });
  const browser = await puppeteer.connect({ transport });
  return {
    browser,
    close: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Splits a stream at its zero bytes, which end the messages. */
function readMessages(stream: Readable, onMessage: (message: string) => void): void {
  let pieces: string[] = [];
  stream.setEncoding("utf8");
  stream.on("data", (piece: string) => {
    const [first = "", ...rest] = piece.split("\0");
    pieces.push(first);
    for (const next of rest) {
      onMessage(pieces.join(""));
      pieces = [next];
    }
  });
}
