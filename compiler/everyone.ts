/** User key in a role assignment to everyone, stored or not. No user has this key. */
export const everyone = '*';
