/** The form of the policy in a bundle: a module for our decision points, or Rego for a stock OPA. */
export type Flavour = 'wasm' | 'rego';
