import { useState } from "preact/hooks";
import { type HostingCredentials, type SyncOutcome, syncHosting } from "../../api/hosting.ts";
import { Button } from "../../ui/button.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import { formatPlural } from "../../ui/format.ts";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";

interface SyncFormProps {
  readonly credentials: HostingCredentials;
  readonly onDone: () => Promise<void>;
}

const SOURCES: Readonly<Record<string, string>> = { env: "from the environment", config: "saved" };

export function SyncForm({ credentials, onDone }: SyncFormProps) {
  const [token, setToken] = useState("");
  const [project, setProject] = useState(credentials.project_id);
  const [team, setTeam] = useState(credentials.team_id);
  const [validate, setValidate] = useState(true);
  const [save, setSave] = useState(true);
  const [typed, setTyped] = useState(false);
  const { busy, error, onSubmit } = useAsyncAction();
  const [outcome, setOutcome] = useState<SyncOutcome | null>(null);

  const sync = async () => {
    setOutcome(null);
    const answer = await syncHosting({
      vercel_token: token,
      project_id: project,
      team_id: team,
      auto_validate: validate,
      save_credentials: save,
    });
    if (answer.success) setOutcome(answer);
    if (answer.success) setTyped(false);
    await onDone();
    if (!answer.success) throw new Error(answer.message || "The sync failed.");
  };
  const known = credentials.has_token
    ? `Empty means the one that is ${SOURCES[credentials.token_source ?? ""] ?? "known"}: ${credentials.token_preview}`
    : "An access token of Vercel: Account Settings, Tokens.";
  return (
    <Panel title="Sync">
      <LeaveGuard unsaved={typed ? "a form that was not sent" : ""} />
      <form class="stack" onSubmit={onSubmit(sync)} onInput={() => setTyped(true)}>
        <div class="setting-grid">
          <TextField
            label="Vercel access token"
            type="password"
            value={token}
            onChange={setToken}
            required={!credentials.has_token}
            hint={known}
          />
          <TextField label="Project id" value={project} onChange={setProject} mono />
          <TextField label="Team id" value={team} onChange={setTeam} mono hint="Only for team projects." />
        </div>
        <CheckField
          label="Sign every account in first"
          value={validate}
          onChange={setValidate}
          hint="The deployment then starts with valid tokens."
        />
        <CheckField label="Save these credentials" value={save} onChange={setSave} />
        <Problem error={error} />
        {outcome !== null && (
          <Notice
            kind={
              outcome.manual_deploy_required || outcome.failed_accounts.length > 0 ? "warning" : "success"
            }
          >
            {outcome.message || "The configuration was sent."}
            {outcome.deployment_url && <p class="mono">{outcome.deployment_url}</p>}
            {validate && <p>{formatPlural(outcome.validated_accounts, "account")} signed in.</p>}
            {outcome.failed_accounts.length > 0 && (
              <ul>
                {outcome.failed_accounts.map(({ account, message }) => (
                  <li key={account}>
                    {account}: {message}
                  </li>
                ))}
              </ul>
            )}
          </Notice>
        )}
        <div>
          <Button kind="primary" type="submit" busy={busy}>
            Sync and deploy
          </Button>
        </div>
      </form>
    </Panel>
  );
}
