import { readdirSync, readFileSync } from "node:fs";

/** A process that this one has started, directly or not. */
export interface Descendant {
  readonly pid: number;
  /** The command line, its parts separated by spaces. */
  readonly command: string;
}

/** The processes that `of` has started, directly or not (Linux); by default those of this one. */
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

/** The main processes of the browsers that this one has started. */
export function browsers(): Descendant[] {
  return descendants().filter(
    ({ command }) =>
      /--remote-debugging-port/.test(command) && !/--type=|browser-egress| keeper /.test(command),
  );
}

/** The processes that show the pages. */
export function renderers(): Descendant[] {
  return descendants().filter(({ command }) => command.includes("--type=renderer"));
}

function read(path: string): string {
  try {
    return readFileSync(path, { encoding: "latin1" });
  } catch {
    return "";
  }
}
