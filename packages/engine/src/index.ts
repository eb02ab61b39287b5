export * from './api.js';
export { loadEngine } from './load-engine.js';
