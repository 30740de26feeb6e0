import { readdirSync, readFileSync } from "node:fs";

/** A direct or indirect child of this process. */
export interface Descendant {
  readonly pid: number;
  /** The command line, its parts separated by spaces. */
  readonly command: string;
}

/** Returns the descendants of process `of` (Linux); default: of this process. */
export function descendants(of: number = process.pid): Descendant[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const pid = Number(name);
      const stat = read(`/proc/${pid}/stat`);
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
      return command === "" ? [] : [{ pid, parent, command }];
    });
  const found = new Set([of]);
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid) && pid !== of);
}

/** Returns the main processes of the browsers that this process started. */
export function browsers(): Descendant[] {
  return descendants().filter(
    ({ command }) =>
      /--remote-debugging-port/.test(command) && !/--type=|browser-egress| keeper /.test(command),
  );
}

/** Returns the renderer processes of these browsers. The browser that tests use themselves is none of them. */
export function renderers(): Descendant[] {
  return browsers()
    .flatMap(({ pid }) => descendants(pid))
    .filter(({ command }) => command.includes("--type=renderer"));
}

/** Whether a process exists, also when its parent has ended. */
export function isRunning(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`) !== "";
}

function read(path: string): string {
  try {
    return readFileSync(path, { encoding: "latin1" });
  } catch {
    return "";
  }
}
