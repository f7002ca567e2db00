// Addresses are written from the root of the dashboard, which may be below another one.
export const at = (path) => document.body.dataset.root + path;
