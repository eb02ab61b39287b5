/** Sample documents. They are type-checked by the server only. */
declare module '*.json' {
	const document: unknown;
	// biome-ignore lint/style/noDefaultExport: a JSON module has a default export.
	export default document;
}
