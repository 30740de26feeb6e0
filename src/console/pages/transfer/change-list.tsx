import { Badge, type Tone } from "../../ui/badge.tsx";
import { count, plural } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import type { Change } from "./difference.ts";

const SHOWN = 300;
const TONES: Readonly<Record<Change["kind"], Tone>> = { added: "good", removed: "bad", changed: "warn" };

/** What an import would do, before it does it. */
export function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
  if (changes.length === 0) {
    return <Notice kind="info">Nothing would change: all of it is there already.</Notice>;
  }
  const amount = (kind: Change["kind"]) => changes.filter((change) => change.kind === kind).length;
  return (
    <div>
      <h3 aria-live="polite">
        {plural(changes.length, "change")}: {amount("added")} added, {amount("changed")} changed,{" "}
        {amount("removed")} removed
      </h3>
      <div class="table-box changes">
        <table>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Where</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {changes.slice(0, SHOWN).map(({ kind, path, before, after }) => (
              <tr key={path.join("\n")}>
                <td>
                  <Badge tone={TONES[kind]}>{kind}</Badge>
                </td>
                <td>{path.join(" › ")}</td>
                <td class="mono muted">{before}</td>
                <td class="mono">{after}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {changes.length > SHOWN && <p class="muted">and {count(changes.length - SHOWN)} more</p>}
    </div>
  );
}
