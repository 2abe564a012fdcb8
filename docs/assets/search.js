// The search takes ^, ~ and : for operators, and finds nothing for pass^k. Here they end a word, as in the index.
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...rest) {
  const asked = message && typeof message.data === "string" ? { ...message, data: message.data.replace(/[\^~:]/g, " ") } : message;
  return post.call(this, asked, ...rest);
};
