// Comments on a post: created, changed, flagged, and live.

// watched subscribes to the comments of a post, and returns a comment of bob on it.
async function watched(t) {
  await subscribed(t);
  return t.foreignComment();
}

async function subscribed(t) {
  const post = await t.make('commented post', () => t.post());
  await t.subscribe(t.raw.getPostTopic(post, t.raw.SubscriptionLevels.COMMENT));
  return post;
}

const event = (name, act, condition = () => true) => async t => {
  const comment = await watched(t);
  await t.listen(`CommentRepository.${name}`, () => act(t, comment), heard => heard.commentId === comment.commentId && condition(heard));
};

async function remove(t, path) {
  const { commentId } = await t.comment();
  const comment = await path(commentId);
  t.equal(comment.commentId, commentId);
  t.equal(comment.isDeleted, true);
}

async function seen(t, start) {
  const comment = await watched(t);
  const live = t.watch(callback => start(comment.commentId, callback));
  await live.until('the comment', ({ data }) => data?.data.text === comment.data.text);
  await t.bob.call('CommentRepository.updateComment', comment.commentId, { data: { text: 'Changed by bob' } });
  await live.until("bob's change", ({ data }) => data.data.text === 'Changed by bob');
  return { comment, live };
}

const has = commentId => ({ data }) => data.some(comment => comment.commentId === commentId);

module.exports = {
  'CommentRepository.createComment': async t => {
    const { postId } = await t.post();
    const { data } = await t.sdk.CommentRepository.createComment({ referenceType: 'post', referenceId: postId, data: { text: 'Hello' }, metadata: { size: 7 } });
    t.equal(data.data.text, 'Hello');
    t.equal(data.metadata.size, 7);
    t.equal(data.userId, t.me);
    const { data: child } = await t.sdk.CommentRepository.createComment({ referenceType: 'post', referenceId: postId, parentId: data.commentId, data: { text: 'Reply' } });
    t.equal(child.parentId, data.commentId);
    t.equal((await t.request('GET', `/api/v3/posts/${postId}`)).posts[0].commentsCount, 2);
  },
  'CommentRepository.updateComment': async t => {
    const { commentId } = await t.comment();
    const { data } = await t.sdk.CommentRepository.updateComment(commentId, { data: { text: 'Changed' } });
    t.equal(data.data.text, 'Changed');
    t.equal((await t.bob.request('GET', `/api/v3/comments/${commentId}`)).comments[0].data.text, 'Changed');
  },
  'CommentRepository.getCommentByIds': async t => {
    const comments = [await t.comment(), await t.foreignComment()];
    const { data } = await t.sdk.CommentRepository.getCommentByIds(comments.map(comment => comment.commentId));
    t.same(data.map(comment => comment.commentId).sort(), comments.map(comment => comment.commentId).sort());
  },
  'CommentRepository.deleteComment': t => remove(t, t.sdk.CommentRepository.deleteComment),
  'CommentRepository.softDeleteComment': t => remove(t, t.sdk.CommentRepository.softDeleteComment),
  'CommentRepository.hardDeleteComment': t => remove(t, t.sdk.CommentRepository.hardDeleteComment),
  'CommentRepository.flagComment': async t => {
    const { commentId } = await t.foreignComment();
    t.equal(await t.sdk.CommentRepository.flagComment(commentId), true);
    t.equal((await t.request('GET', `/api/v3/comments/${commentId}`)).comments[0].flagCount, 1);
  },
  'CommentRepository.unflagComment': async t => {
    const { commentId } = await t.foreignComment();
    await t.raw.CommentRepository.flagComment(commentId);
    t.equal(await t.sdk.CommentRepository.unflagComment(commentId), true);
    t.equal((await t.request('GET', `/api/v3/comments/${commentId}`)).comments[0].flagCount, 0);
  },
  'CommentRepository.isCommentFlaggedByMe': async t => {
    const { commentId } = await t.foreignComment();
    t.equal(await t.sdk.CommentRepository.isCommentFlaggedByMe(commentId), false);
    await t.raw.CommentRepository.flagComment(commentId);
    t.equal(await t.sdk.CommentRepository.isCommentFlaggedByMe(commentId), true);
  },

  'CommentRepository.getComment': async t => {
    const { comment, live } = await seen(t, t.sdk.CommentRepository.getComment);
    await t.bob.call('ReactionRepository.addReaction', 'comment', comment.commentId, 'like');
    await live.until("bob's reaction", ({ data }) => data.reactionsCount === 1);
    await t.bob.call('CommentRepository.deleteComment', comment.commentId);
    await live.until('the deletion', ({ data }) => data.isDeleted);
  },
  'CommentRepository.observeComment': t => seen(t, t.sdk.CommentRepository.observeComment),
  'CommentRepository.observeComments': async t => {
    const { postId } = await subscribed(t);
    const live = t.watch(callback => t.sdk.CommentRepository.observeComments(postId, callback));
    const { commentId } = await t.foreignComment();
    await live.heard("bob's comment", comment => comment.commentId === commentId);
  },
  'CommentRepository.getComments': async t => {
    const { postId } = await subscribed(t);
    for (let i = 0; i < 3; i++) await t.foreignComment();
    const live = t.watch(callback => t.sdk.CommentRepository.getComments({ referenceType: 'post', referenceId: postId, limit: 2 }, callback));
    await live.until('the comments, and a next page', ({ data, hasNextPage }) => data.length >= 2 && hasNextPage);
    const { commentId } = await t.foreignComment();
    await live.until("bob's comment", has(commentId));
    const count = live.last.data.length;
    live.last.onNextPage();
    await live.until('the next page', ({ data }) => data.length > count);
    await t.bob.call('CommentRepository.deleteComment', commentId);
    await live.until('the deletion', ({ data }) => data.every(comment => comment.commentId !== commentId || comment.isDeleted));
  },

  'CommentRepository.onCommentCreated': async t => {
    await subscribed(t);
    const text = t.name('New');
    await t.listen('CommentRepository.onCommentCreated', () => t.foreignComment({ data: { text } }), comment => comment.data.text === text);
  },
  'CommentRepository.onCommentUpdated': event('onCommentUpdated',
    (t, { commentId }) => t.bob.call('CommentRepository.updateComment', commentId, { data: { text: 'Edited' } }), comment => comment.data.text === 'Edited'),
  'CommentRepository.onCommentDeleted': event('onCommentDeleted',
    (t, { commentId }) => t.bob.call('CommentRepository.deleteComment', commentId), comment => comment.isDeleted),
  // Plaza keeps reporters anonymous: only the reporter hears of a flag, on every device.
  'CommentRepository.onCommentFlagged': event('onCommentFlagged',
    (t, { commentId }) => t.request('POST', `/api/v3/comments/${commentId}/flag`), comment => comment.flagCount === 1),
  'CommentRepository.onCommentUnflagged': event('onCommentUnflagged', async (t, { commentId }) => {
    await t.request('POST', `/api/v3/comments/${commentId}/flag`);
    await t.request('DELETE', `/api/v3/comments/${commentId}/unflag`);
  }, comment => comment.flagCount === 0),
  'CommentRepository.onCommentReactionAdded': event('onCommentReactionAdded',
    (t, { commentId }) => t.carol.call('ReactionRepository.addReaction', 'comment', commentId, 'love'), comment => comment.reactions.love === 1),
  'CommentRepository.onCommentReactionRemoved': event('onCommentReactionRemoved', async (t, { commentId }) => {
    await t.carol.call('ReactionRepository.addReaction', 'comment', commentId, 'love');
    await t.carol.call('ReactionRepository.removeReaction', 'comment', commentId, 'love');
  }, comment => comment.reactionsCount === 0),
};
