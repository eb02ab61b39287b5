/** Imported before files of tests, it makes them declare what they have for the embedded store, and nothing else. */
import { holdEmbedded } from './each-store.js';

holdEmbedded();
