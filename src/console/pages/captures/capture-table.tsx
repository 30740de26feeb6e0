import type { CaptureSummary } from "../../api/captures.ts";
import { href } from "../../routing.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { compact, duration, moment } from "../../ui/format.ts";

interface CaptureTableProps {
  readonly items: readonly CaptureSummary[];
  /** Keeps all rounds of a generation. */
  readonly onKeep: (chainKey: string) => Promise<void>;
}

export function CaptureTable({ items, onKeep }: CaptureTableProps) {
  return (
    <div class="table-box">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Exchange</th>
            <th scope="col">Answer</th>
            <th scope="col" class="end">
              Bytes
            </th>
            <th scope="col" class="end">
              Took
            </th>
            <th scope="col">
              <span class="hidden-text">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map(
            ({ id, at, label, method, url, status, outcome, response_bytes, duration_ms, chain_key }) => (
              <tr key={id}>
                <td class="tabular">{moment(at)}</td>
                <td>
                  <a href={href("captures", id)}>{label || method}</a> <span class="mono muted">{url}</span>
                </td>
                <td>
                  <Badge tone={status >= 200 && status < 400 && outcome !== "error" ? "good" : "bad"}>
                    {status === 0 ? outcome : `${status} ${outcome}`}
                  </Badge>
                </td>
                <td class="end tabular">{compact(response_bytes)}</td>
                <td class="end tabular">{duration(duration_ms)}</td>
                <td class="end">
                  {chain_key !== "" && (
                    <Button
                      kind="quiet"
                      label={`Keep ${label} as a sample`}
                      onClick={() => void onKeep(chain_key)}
                    >
                      Keep
                    </Button>
                  )}
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}
