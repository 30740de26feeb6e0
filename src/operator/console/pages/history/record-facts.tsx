import type { ComponentChildren } from "preact";
import { listCapturesOfRequest } from "../../api/captures.ts";
import type { HistoryRecord } from "../../api/history.ts";
import { formatHref } from "../../routing.ts";
import type { AccountNames } from "../../shared/account-names.ts";
import { formatCount } from "../../ui/count.ts";
import { formatCost, formatDuration, formatFullTime } from "../../ui/format.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { words } from "../../ui/words.ts";
import { describeAccount, findShownAccount } from "./describe-account.ts";
import { describeUsage } from "./describe-usage.ts";
import { accountFilter, FilterLink, filterValue, WorkLink } from "./filter-link.tsx";
import { StatusBadge } from "./status-badge.tsx";
import { texts } from "./texts.ts";

interface FactProps {
  readonly name: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

function Fact({ name, class: className, children }: FactProps) {
  return (
    <>
      <dt>{name}</dt>
      <dd class={className}>{children}</dd>
    </>
  );
}

export interface FactsProps {
  readonly record: HistoryRecord;
  readonly names: AccountNames;
}

/** Lists the facts of a generation. A click on a value filters the list by it. */
export function Facts({ record, names }: FactsProps) {
  const { requested_model: requested, model, dropped_params: droppedParams = [] } = record;
  const {
    team = "",
    user = "",
    end_user: endUser = "",
    tags = [],
    error_code: errorCode = "",
    path,
  } = record;
  const details = describeUsage(record);
  const attempts = Math.max(record.attempts, record.upstream_attempts?.length ?? 0);
  const isError = record.status === "error";
  return (
    <dl class="facts">
      <Fact name={texts.status}>
        <FilterLink
          name={isError ? "code" : "status"}
          value={isError ? String(record.status_code) : record.status}
          query=""
        >
          <StatusBadge status={record.status} code={record.status_code} error={record.error} />
        </FilterLink>{" "}
        {isError && errorCode !== "" && (
          <FilterLink name="code" value={errorCode} query="">
            {errorCode.replaceAll("_", " ")}
          </FilterLink>
        )}
      </Fact>
      {record.refusals !== undefined && (
        <Fact name={texts.refusals}>{texts.refusalsOfMinute(formatCount(record.refusals))}</Fact>
      )}
      <Fact name={words.time}>
        {texts.took(formatFullTime(record.created_at), formatDuration(record.elapsed_ms))}
      </Fact>
      <Fact name={words.model}>
        <FilterLink name="model" value={model || requested} query="" />
        {requested !== model && requested !== "" && model !== "" && texts.requestedAs(requested)}
      </Fact>
      {droppedParams.length > 0 && (
        <Fact name={texts.droppedParameters}>{texts.notSupported(droppedParams.join(", "))}</Fact>
      )}
      <Fact name={words.apiStyle}>
        <WorkLink dialect={record.dialect} operation={record.operation} query="" />
        {record.stream ? texts.streamed : ""}
      </Fact>
      {record.source !== "" && (
        <Fact name={texts.source}>
          <FilterLink name="source" value={record.source} query="" />
        </Fact>
      )}
      {record.provider !== "" && (
        <Fact name={texts.provider}>
          <FilterLink name="provider" value={record.provider} query="" />
        </Fact>
      )}
      <Fact name={words.account}>
        <FilterLink name="account" value={accountFilter(findShownAccount(record), names)} query="">
          {describeAccount(record, names)}
        </FilterLink>
        {attempts > 1 && texts.afterAttempts(attempts)}
      </Fact>
      <Fact name={words.tokens}>
        {texts.inOutReasoning(
          formatCount(record.prompt_tokens),
          formatCount(record.completion_tokens),
          formatCount(record.reasoning_tokens),
        )}
      </Fact>
      {details.length > 0 && <Fact name={texts.details}>{details.join(", ")}</Fact>}
      <Fact name={texts.cost}>
        {record.cost === null ? texts.unpriced : texts.costOf(formatCost(record.cost))}
      </Fact>
      <Fact name={words.key}>
        <FilterLink name="key" value={filterValue(record.key, record.key_name)} query="">
          {record.key_name || record.key || words.noKey}
        </FilterLink>
      </Fact>
      {team !== "" && (
        <Fact name={texts.team}>
          <FilterLink name="team" value={filterValue(team, record.team_name)} query="">
            {record.team_name || team}
          </FilterLink>
        </Fact>
      )}
      {user !== "" && <Fact name={texts.user}>{user}</Fact>}
      {endUser !== "" && <Fact name={texts.endUser}>{endUser}</Fact>}
      {tags.length > 0 && <Fact name={texts.tags}>{tags.join(", ")}</Fact>}
      {path !== undefined && (
        <Fact name={texts.path}>
          <FilterLink name="path" value={path} query="">
            {texts.paths[path]}
          </FilterLink>
        </Fact>
      )}
      <Fact name={words.request} class="mono">
        {record.request_id}
      </Fact>
      <CaptureLinks request={record.request_id} />
    </dl>
  );
}

/** Lists the exchanges with the provider, if captures exist. */
function CaptureLinks({ request }: { readonly request: string }) {
  const { data } = useLoaded((signal) => listCapturesOfRequest(request, signal), request);
  if (data === null || data.length === 0) return null;
  return (
    <Fact name={words.captures} class="row">
      {data.map(({ id, label, status }) => (
        <a key={id} href={formatHref("captures", id)}>
          {label} {status > 0 && status}
        </a>
      ))}
    </Fact>
  );
}
