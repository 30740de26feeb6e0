import { changeSettings, listSettingFields, readSettings, type SettingField } from "../../api/settings.ts";
import { useHasRole } from "../../own-user.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PanelForm } from "../../ui/panel-form.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { words } from "../../ui/words.ts";
import { groupFields, localizeFields } from "./localize-fields.ts";
import { PasswordForm } from "./password-form.tsx";
import { SettingInput } from "./setting-field.tsx";
import { type Draft, getValue, toSettingChanges, updateDraft, validateSettings } from "./settings-draft.ts";
import { TelemetryPanel } from "./telemetry-panel.tsx";
import { texts } from "./texts.ts";

const toDraft = (): Draft => ({});

/** Form for the runtime settings. The server says which there are. */
function SettingsForm({ fields }: { readonly fields: readonly SettingField[] }) {
  return (
    <PanelForm
      read={readSettings}
      toDraft={toDraft}
      save={(draft, ifMatch) => changeSettings(toSettingChanges(draft, fields), ifMatch)}
      validate={(draft) => validateSettings(draft, fields)}
      unsaved={(draft) => texts.unsavedChangeCount(Object.keys(draft).length)}
      action={words.save}
      saved={texts.settingsSaved}
      fields={({ entry, draft, change }) =>
        groupFields(fields).map((group) => (
          <Panel key={group.heading} title={group.heading}>
            <div class="setting-grid">
              {group.fields.map((field) => {
                const { path } = field;
                const saved = getValue(entry, path);
                return (
                  <SettingInput
                    key={path}
                    field={field}
                    value={draft[path] ?? (typeof saved === "boolean" ? saved : String(saved ?? ""))}
                    changed={path in draft}
                    onChange={(value) => change(updateDraft(draft, entry, path, value))}
                  />
                );
              })}
            </div>
          </Panel>
        ))
      }
    />
  );
}

/** Page for the runtime settings. Changes take effect with the next request. */
export function SettingsPage() {
  const isOwner = useHasRole("owner");
  const { data, error, reload } = useLoaded(async (signal) => {
    const [settings, fields] = await Promise.all([readSettings(signal), listSettingFields(signal)]);
    return { hasPassword: settings.admin.has_password_hash, fields: localizeFields(fields) };
  });
  return (
    <Page title={texts.settings} lead={texts.lead}>
      <LoadState {...{ data, error, reload }} />
      {data !== null && (
        <>
          <SettingsForm fields={data.fields} />
          <TelemetryPanel />
          {/* Only owners may change it. An administrator's own password is on the page of administrators. */}
          {isOwner && <PasswordForm hasPassword={data.hasPassword} />}
        </>
      )}
    </Page>
  );
}
