import { useState } from "preact/hooks";
import { type HostingCredentials, type SyncOutcome, syncHosting } from "../../api/hosting.ts";
import { Button } from "../../ui/button.tsx";
import { CheckField, TextField } from "../../ui/forms/field.tsx";
import { LeaveGuard } from "../../ui/forms/leave-guard.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

interface SyncFormProps {
  readonly credentials: HostingCredentials;
  readonly onDone: () => Promise<void>;
}

const SOURCES: Readonly<Record<string, string>> = { env: texts.fromEnvironment, config: texts.saved };

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
    if (!answer.success) throw new Error(answer.message || texts.syncFailed);
  };
  const known = credentials.has_token
    ? texts.storedToken(SOURCES[credentials.token_source ?? ""] ?? texts.known, credentials.token_preview)
    : texts.accessTokenHint;
  const failedAccounts = outcome?.failed_accounts ?? [];
  return (
    <Panel title={texts.sync}>
      <LeaveGuard unsaved={typed ? texts.unsavedForm : ""} />
      <form class="stack" onSubmit={onSubmit(sync)} onInput={() => setTyped(true)}>
        <div class="setting-grid">
          <TextField
            label={texts.vercelAccessToken}
            type="password"
            value={token}
            onChange={setToken}
            required={!credentials.has_token}
            hint={known}
          />
          <TextField label={texts.projectId} value={project} onChange={setProject} mono />
          <TextField
            label={texts.teamId}
            value={team}
            onChange={setTeam}
            mono
            hint={texts.onlyForTeamProjects}
          />
        </div>
        <CheckField
          label={texts.signInFirst}
          value={validate}
          onChange={setValidate}
          hint={texts.signInHint}
        />
        <CheckField label={texts.saveCredentials} value={save} onChange={setSave} />
        <Problem error={error} />
        {outcome !== null && (
          <Notice kind={outcome.manual_deploy_required || failedAccounts.length > 0 ? "warning" : "success"}>
            {outcome.message || texts.sent}
            {outcome.deployment_url && <p class="mono">{outcome.deployment_url}</p>}
            {validate && <p>{texts.signedIn(words.accountCount(outcome.validated_accounts))}</p>}
            {failedAccounts.length > 0 && (
              <ul>
                {failedAccounts.map(({ account, message }) => (
                  <li key={account}>
                    {account}: {message}
                  </li>
                ))}
              </ul>
            )}
          </Notice>
        )}
        <div>
          <Button kind="primary" type="submit" needs="owner" busy={busy}>
            {texts.syncAndDeploy}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
