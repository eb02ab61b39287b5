/** Version of the data document's layout. Policy and data must have the same layout. */
export const layout = 9;
