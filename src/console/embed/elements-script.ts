import { PageElements } from './page-elements.js';

/**
 * `/elements.js`: script for pages that embed elements. Adds `regolith.elements`, which has the same functions as the
 * front-end package but calls this server.
 */

declare global {
	interface Window {
		regolith: { readonly elements: PageElements };
	}
}

// `currentScript` is available only during the first run of the script, and not in a module.
const { currentScript } = document;
const source = currentScript instanceof HTMLScriptElement ? currentScript.src : '';

window.regolith = { elements: new PageElements(URL.canParse(source) ? new URL(source).origin : location.origin) };
