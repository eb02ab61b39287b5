/** Version of the data document's layout. Policy and data of different layouts do not go together. */
export const layout = 9;
