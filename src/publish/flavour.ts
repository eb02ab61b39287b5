/** Policy form in a bundle: a module for our decision points, or Rego for stock OPA. */
export type Flavour = 'wasm' | 'rego';
