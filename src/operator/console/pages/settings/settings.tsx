import { useState } from "preact/hooks";
import { changeSettings, listSettingFields, readSettings, type SettingField } from "../../api/settings.ts";
import { useHasRole } from "../../own-user.ts";
import { Empty } from "../../ui/empty.tsx";
import { PanelForm } from "../../ui/forms/panel-form.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { SearchBox } from "../../ui/tables/search-box.tsx";
import { words } from "../../ui/words.ts";
import { findFields, groupFields, localizeFields } from "./localize-fields.ts";
import { PasswordForm } from "./password-form.tsx";
import { SettingInput } from "./setting-field.tsx";
import {
  type Draft,
  revertDraft,
  toInput,
  toSettingChanges,
  updateDraft,
  validateSettings,
} from "./settings-draft.ts";
import { TelemetryPanel } from "./telemetry-panel.tsx";
import { texts } from "./texts.ts";

const toDraft = (): Draft => ({});

interface SettingsFormProps {
  readonly fields: readonly SettingField[];
  /** Only settings with this text are shown. */
  readonly search: string;
}

/** Form for the runtime settings. The server says which there are. */
function SettingsForm({ fields, search }: SettingsFormProps) {
  return (
    <PanelForm
      read={readSettings}
      toDraft={toDraft}
      save={(draft, ifMatch) => changeSettings(toSettingChanges(draft, fields), ifMatch)}
      revert={revertDraft}
      validate={(draft) => validateSettings(draft, fields)}
      unsaved={(draft) => texts.unsavedChangeCount(Object.keys(draft).length)}
      action={words.save}
      saved={texts.settingsSaved}
      fields={({ entry, draft, change }) => {
        // A changed setting stays visible, so that its error has a place.
        const shown = findFields(fields, search, new Set(Object.keys(draft)));
        const groups = groupFields(shown).map((group) => (
          <Panel key={group.heading} title={group.heading} folds open={search !== ""}>
            <div class="setting-grid">
              {group.fields.map((field) => (
                <SettingInput
                  key={field.path}
                  field={field}
                  value={draft[field.path] ?? toInput(entry, field.path)}
                  changed={field.path in draft}
                  onChange={(value) => change(updateDraft(draft, entry, field.path, value))}
                />
              ))}
            </div>
          </Panel>
        ));
        return groups.length === 0 ? <Empty icon="settings" title={texts.noSettingMatches} /> : groups;
      }}
    />
  );
}

/** Page for the runtime settings. Changes take effect with the next request. */
export function SettingsPage() {
  const [search, setSearch] = useState("");
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
          <div class="toolbar">
            <SearchBox label={texts.searchSettings} value={search} onSearch={setSearch} />
          </div>
          <SettingsForm fields={data.fields} search={search} />
          <TelemetryPanel />
          {/* Only owners may change it. An administrator's own password is on the page of administrators. */}
          {isOwner && <PasswordForm hasPassword={data.hasPassword} />}
        </>
      )}
    </Page>
  );
}
