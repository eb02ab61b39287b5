/**
 * Script of the reference page. It contains settings for Swagger UI, and replacements for its functions that take
 * seconds with a large document. The script parses the document only as JSON. It resolves only internal references,
 * because our document has no others. The filter also searches summaries and names, and opens the operations that
 * match.
 */
const changes = `function changes() {
	const unescape = (name) => name.replaceAll('~1', '/').replaceAll('~0', '~');
	const find = (document, reference) =>
		reference.slice(2).split('/').map(unescape).reduce((part, name) => part?.[name], document);
	function resolve(document, value, above) {
		if (Array.isArray(value)) return value.map((item) => resolve(document, item, above));
		if (typeof value !== 'object' || value === null) return value;
		const { $ref: reference, ...beside } = value;
		if (typeof reference !== 'string' || !reference.startsWith('#/') || above.includes(reference)) {
			return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, resolve(document, part, above)]));
		}
		const target = resolve(document, find(document, reference), [...above, reference]);
		return { ...target, ...resolve(document, beside, above), $$ref: reference };
	}
	const holds = (phrase) => (text) => String(text ?? '').toLowerCase().includes(phrase.toLowerCase());
	return {
		fn: {
			resolveSubtree: async (document, path) => {
				const part = path.reduce((value, name) => value?.[name], document);
				return { spec: resolve(document, part, []), errors: [] };
			},
			opsFilter: (groups, phrase) => {
				const matches = holds(phrase);
				const isFound = (one) =>
					[one.get('path'), one.getIn(['operation', 'summary']), one.getIn(['operation', 'operationId'])].some(matches);
				return groups
					.map((group, tag) => (matches(tag) ? group : group.update('operations', (list) => list.filter(isFound))))
					.filter((group) => group.get('operations').size > 0);
			},
		},
		statePlugins: {
			spec: {
				wrapActions: {
					parseToJson: (original, { specActions, specSelectors }) => (text) => {
						try {
							return specActions.updateJsonSpec(JSON.parse(text || specSelectors.specStr()));
						} catch {
							return original(text);
						}
					},
				},
			},
			layout: {
				wrapSelectors: {
					isShown: (original) => (state, thing, otherwise) => {
						const filter = state.get('filter');
						const isOpened = [thing].flat()[0] === 'operations-tag' && typeof filter === 'string' && filter !== '';
						return original(thing, otherwise || isOpened);
					},
				},
			},
		},
	};
}`;

/**
 * Returns the script for the page about the document at this path. `validatorUrl: null` turns off a public validation
 * service.
 */
export function pageScript(documentPath: string): string {
	const settings = {
		url: documentPath,
		dom_id: '#page',
		deepLinking: true,
		docExpansion: 'none',
		filter: true,
		// A schema list would repeat the content of the operations.
		defaultModelsExpandDepth: -1,
		displayRequestDuration: true,
		validatorUrl: null,
	};
	return `${changes}\nSwaggerUIBundle({ ...${JSON.stringify(settings)}, plugins: [changes] });\n`;
}
