import { PageElements } from './page-elements.js';

/**
 * `/elements.js`: what a page that embeds elements loads. It adds `regolith.elements` to the page, with the calls of the
 * front-end package (contract: Elements, 1), which here are settled by this server's answers.
 */

declare global {
	interface Window {
		regolith: { readonly elements: PageElements };
	}
}

// Only while the script runs for the first time, and not in a module.
const { currentScript } = document;
const source = currentScript instanceof HTMLScriptElement ? currentScript.src : '';

window.regolith = { elements: new PageElements(URL.canParse(source) ? new URL(source).origin : location.origin) };
