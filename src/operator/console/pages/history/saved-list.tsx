import { useState } from "preact/hooks";
import { setQuery, useAddress } from "../../routing.ts";
import { useStore } from "../../store.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { words } from "../../ui/words.ts";
import { filterQuery, forgetFilter, savedFilters, saveFilter } from "./saved-filters.ts";
import { texts } from "./texts.ts";

/** Lists the saved filters. */
export function SavedList() {
  const saved = useStore(savedFilters);
  const { query } = useAddress();
  const currentFilter = filterQuery(query);
  if (saved.length === 0) return null;
  return (
    <fieldset class="row saved-filters" aria-label={texts.savedFilters}>
      {saved.map((filter) => (
        <span key={filter.name} class="row">
          <Button pressed={filter.query === currentFilter} onClick={() => setQuery(filter.query, true)}>
            {filter.name}
          </Button>
          <Button kind="quiet" label={texts.delete(filter.name)} onClick={() => forgetFilter(filter.name)}>
            ×
          </Button>
        </span>
      ))}
    </fieldset>
  );
}

/** Saves the current search and filters. */
export function SaveFilter() {
  const { query } = useAddress();
  const [confirming, setConfirming] = useState(false);
  const [name, setName] = useState("");
  return (
    <>
      <Button kind="quiet" disabled={filterQuery(query) === ""} onClick={() => setConfirming(true)}>
        {texts.saveFilters}
      </Button>
      {confirming && (
        <FormDialog
          title={texts.saveTheseFilters}
          action={words.save}
          onClose={() => setConfirming(false)}
          submit={async () => {
            saveFilter(name.trim(), query);
            setName("");
          }}
        >
          <TextField label={words.name} value={name} onChange={setName} required focus />
        </FormDialog>
      )}
    </>
  );
}
