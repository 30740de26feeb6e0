/** Texts as a page may not have them: texts.test.ts has to find each. */
export const Sample = ({ name }: { readonly name: string }) => (
  <div class="row panel" title="Save" id="row-1">
    {name === "" ? "Not saved" : name}
    <p>No key yet</p>
    <button type="button" aria-label={`Delete ${name}`}>
      1 request
    </button>
  </div>
);
