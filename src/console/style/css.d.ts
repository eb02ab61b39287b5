/** Style sheets are imported only so that the bundler writes them to a file for the page. */
declare module '*.css';
