/** Layout version for the data document. Policy and data must have the same layout. */
export const layout = 12;
