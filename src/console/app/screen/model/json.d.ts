/** Sample documents. Only the server validates them. */
declare module '*.json' {
	const document: unknown;
	// biome-ignore lint/style/noDefaultExport: a JSON module has a default export.
	export default document;
}
