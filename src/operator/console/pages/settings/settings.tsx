import { useRef, useState } from "preact/hooks";
import { type ApiError, isEditConflict, toMessage } from "../../api/client.ts";
import { changeSettings, readSettings, type Settings } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { Conflict } from "../../ui/conflict.tsx";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import { useLoaded } from "../../ui/use-loaded.ts";
import { words } from "../../ui/words.ts";
import { GuardrailsPanel } from "../guardrails/guardrails-panel.tsx";
import { PasswordForm } from "./password-form.tsx";
import { SettingField } from "./setting-field.tsx";
import { SETTING_GROUPS } from "./setting-list.ts";
import {
  type Draft,
  findRejectedSetting,
  getValue,
  toSettingChanges,
  updateDraft,
  validateSettings,
} from "./settings-draft.ts";
import { TelemetryPanel } from "./telemetry-panel.tsx";
import { texts } from "./texts.ts";

const SETTINGS = SETTING_GROUPS.flatMap(({ settings }) => settings);
const NAMES = new Map(SETTINGS.map(({ path, name }) => [path, name]));
const NUMBERS = new Set(SETTINGS.filter(({ kind }) => kind.type === "number").map(({ path }) => path));

/** Page for the runtime settings. Changes take effect with the next request. */
export function SettingsPage() {
  const { data, error, reload, replace } = useLoaded(readSettings);
  const [draft, setDraft] = useState<Draft>({});
  const { busy: saving, error: failure, run, onSubmit } = useAsyncAction();
  const [conflict, setConflict] = useState<ApiError | null>(null);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const form = useRef<HTMLFormElement>(null);
  const changes = Object.keys(draft).length;

  const reject = (errors: Readonly<Record<string, string>>): never => {
    setFaults(errors);
    // After the fields have rendered the errors, focus the first invalid one.
    setTimeout(() => {
      const first = form.current?.querySelector('[aria-invalid="true"]');
      if (first instanceof HTMLElement) first.focus();
    });
    const names = Object.keys(errors).map((path) => NAMES.get(path) ?? path);
    throw new Error(texts.notSavedFix(names.join(", ")));
  };
  const save = async (ifMatch: string | undefined) => {
    setConflict(null);
    const errors = validateSettings(draft, SETTINGS);
    if (Object.keys(errors).length > 0) reject(errors);
    try {
      replace(await changeSettings(toSettingChanges(draft, NUMBERS), ifMatch));
    } catch (thrown) {
      if (isEditConflict(thrown)) {
        setConflict(thrown);
        return;
      }
      const rejected = findRejectedSetting(toMessage(thrown), SETTINGS);
      if (rejected !== null) reject({ [rejected.path]: rejected.fault });
      throw thrown;
    }
    setFaults({});
    setDraft({});
    showToast(texts.settingsSaved);
  };
  const discard = () => {
    setConflict(null);
    setFaults({});
    setDraft({});
  };
  const change = (path: string, saved: Settings, value: string | boolean) => {
    const { [path]: _, ...others } = faults;
    setFaults(others);
    setDraft((before) => updateDraft(before, saved, path, value));
  };

  return (
    <Page title={texts.settings} lead={texts.lead}>
      <Problem error={error} retry={reload} />
      <LeaveGuard unsaved={changes === 0 ? "" : texts.unsavedChangeCount(changes)} />
      {data !== null && (
        <form ref={form} class="settings" onSubmit={onSubmit(() => save(data.tag))} noValidate>
          {SETTING_GROUPS.map(({ title, settings }) => (
            <Panel key={title} title={title}>
              <div class="setting-grid">
                {settings.map((setting) => {
                  const savedValue = getValue(data, setting.path);
                  const value =
                    draft[setting.path] ??
                    (typeof savedValue === "boolean" ? savedValue : String(savedValue ?? ""));
                  return (
                    <SettingField
                      key={setting.path}
                      setting={setting}
                      value={value}
                      changed={setting.path in draft}
                      fault={faults[setting.path] ?? ""}
                      placeholder={data.thinking_injection.default_prompt}
                      onChange={(next) => change(setting.path, data, next)}
                    />
                  );
                })}
              </div>
            </Panel>
          ))}
          {(changes > 0 || failure !== "") && (
            <div class="save-bar">
              <Problem error={failure} />
              {conflict !== null && (
                <Conflict
                  busy={saving}
                  edit={conflict.sent}
                  read={readSettings}
                  onReload={() => {
                    discard();
                    void reload();
                  }}
                  onOverwrite={() => void run(() => save(undefined))}
                />
              )}
              <span class="grow">{texts.unsavedChangeCount(changes)}</span>
              <Button kind="quiet" onClick={discard}>
                {texts.discard}
              </Button>
              <Button kind="primary" type="submit" busy={saving}>
                {words.save}
              </Button>
            </div>
          )}
        </form>
      )}
      {data !== null && <GuardrailsPanel />}
      {data !== null && <TelemetryPanel />}
      {data !== null && <PasswordForm hasPassword={data.admin.has_password_hash} />}
    </Page>
  );
}
