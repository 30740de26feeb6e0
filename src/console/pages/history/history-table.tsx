import type { HistorySummary } from "../../api/history.ts";
import { href } from "../../routing.ts";
import { compact, duration, moment } from "../../ui/format.ts";
import { StatusBadge } from "./status-badge.tsx";

/** The generations, one a row; its preview leads to the record. */
export function HistoryTable({ items }: { readonly items: readonly HistorySummary[] }) {
  return (
    <div class="panel table-box">
      <table class="history-table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Status</th>
            <th scope="col">Asked and answered</th>
            <th scope="col">Model</th>
            <th scope="col">Account</th>
            <th scope="col" class="end">
              Tokens
            </th>
            <th scope="col" class="end">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id}>
              <td class="tabular">{moment(item.created_at)}</td>
              <td>
                <StatusBadge status={item.status} code={item.status_code} error={item.error} />
              </td>
              <td class="history-preview">
                <a class="cut" href={href("history", item.id)}>
                  {item.request_preview || "(no text)"}
                </a>
                <span class="muted cut">{item.error || item.response_preview || "…"}</span>
              </td>
              <td>
                <span class="cut">{item.model}</span>
                <span class="muted cut">
                  {item.dialect}
                  {item.source !== "" && `, from ${item.source}`}
                </span>
              </td>
              <td class="muted">
                <span class="cut">{item.account || "pass-through"}</span>
              </td>
              <td class="end tabular muted">
                {compact(item.prompt_tokens)} → {compact(item.completion_tokens)}
              </td>
              <td class="end tabular">{duration(item.elapsed_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
