import { useState } from "preact/hooks";
import { changeSettings, readSettings } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { plural } from "../../ui/format.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { useWork } from "../../ui/use-work.ts";
import { changesOf, type Draft, edited, valueAt } from "./draft.ts";
import { PasswordForm } from "./password-form.tsx";
import { SettingField } from "./setting-field.tsx";
import { SETTING_GROUPS } from "./setting-list.ts";

const NUMBERS = new Set(
  SETTING_GROUPS.flatMap(({ settings }) => settings)
    .filter(({ kind }) => kind.type === "number")
    .map(({ path }) => path),
);

/** Every runtime setting. They take effect with the next request. */
export function SettingsPage() {
  const { data, error, reload, replace } = useLoaded(readSettings);
  const [draft, setDraft] = useState<Draft>({});
  const { busy: saving, error: failure, onSubmit } = useWork();
  const changes = Object.keys(draft).length;

  const save = async () => {
    replace(await changeSettings(changesOf(draft, NUMBERS)));
    setDraft({});
    toast("Settings saved");
  };

  return (
    <Page
      title="Settings"
      lead="Changes take effect with the next request, and everywhere within five seconds."
    >
      <Problem error={error} retry={reload} />
      {data !== null && (
        <form class="settings" onSubmit={onSubmit(save)} noValidate>
          {SETTING_GROUPS.map(({ title, settings }) => (
            <Panel key={title} title={title}>
              <div class="setting-grid">
                {settings.map((setting) => {
                  const present = valueAt(data, setting.path);
                  const value =
                    draft[setting.path] ?? (typeof present === "boolean" ? present : String(present ?? ""));
                  return (
                    <SettingField
                      key={setting.path}
                      setting={setting}
                      value={value}
                      changed={setting.path in draft}
                      placeholder={data.thinking_injection.default_prompt}
                      onChange={(next) => setDraft((before) => edited(before, data, setting.path, next))}
                    />
                  );
                })}
              </div>
            </Panel>
          ))}
          {(changes > 0 || failure !== "") && (
            <div class="save-bar">
              <Problem error={failure} />
              <span class="grow">{plural(changes, "unsaved change")}</span>
              <Button kind="quiet" onClick={() => setDraft({})}>
                Discard
              </Button>
              <Button kind="primary" type="submit" busy={saving}>
                Save
              </Button>
            </div>
          )}
        </form>
      )}
      {data !== null && <PasswordForm hasPassword={data.admin.has_password_hash} />}
    </Page>
  );
}
