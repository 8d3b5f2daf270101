// Polls. The packages hear of votes only from the same device.

const question = { question: 'Sunday or Saturday?', answerType: 'single', closedIn: 3_600_000, answers: [{ dataType: 'text', data: 'Sunday' }, { dataType: 'text', data: 'Saturday' }] };
const create = async t => (await t.raw.PollRepository.createPoll(question)).data;

// posted returns a poll in a post of the community, on which members may vote.
async function posted(t) {
  const poll = await create(t);
  await t.post({ dataType: 'poll', data: { text: 'Vote', pollId: poll.pollId } });
  return poll;
}

async function seen(t, start) {
  const { pollId, answers } = await posted(t);
  const live = t.watch(callback => start(pollId, callback));
  await live.until('the poll', ({ data }) => data?.pollId === pollId);
  await t.raw.PollRepository.votePoll(pollId, [answers[0].id]);
  await live.until('the vote', ({ data }) => data.isVoted && data.answers[0].voteCount === 1);
}

module.exports = {
  'PollRepository.createPoll': async t => {
    const { data } = await t.sdk.PollRepository.createPoll(question);
    t.equal(data.question, question.question);
    t.same(data.answers.map(({ data }) => data), ['Sunday', 'Saturday']);
    t.equal(data.status, 'open');
  },
  'PollRepository.closePoll': async t => {
    const { data } = await t.sdk.PollRepository.closePoll((await posted(t)).pollId);
    t.equal(data.status, 'closed');
  },
  'PollRepository.deletePoll': async t => {
    const { pollId } = await create(t);
    t.equal(await t.sdk.PollRepository.deletePoll(pollId), true);
    await t.rejects(t.request('GET', `/api/v3/polls/${pollId}`));
  },
  'PollRepository.votePoll': async t => {
    const { pollId, answers } = await posted(t);
    const { data } = await t.sdk.PollRepository.votePoll(pollId, [answers[1].id]);
    t.equal(data.isVoted, true);
    t.equal(data.answers[1].voteCount, 1);
  },
  'PollRepository.unvotePoll': async t => {
    const { pollId, answers } = await posted(t);
    await t.raw.PollRepository.votePoll(pollId, [answers[1].id]);
    await t.sdk.PollRepository.unvotePoll(pollId);
    const { polls } = await t.request('GET', `/api/v3/polls/${pollId}`);
    t.equal(polls[0].isVoted, false);
    t.equal(polls[0].answers[1].voteCount, 0);
  },
  'PollRepository.getPoll': t => seen(t, t.sdk.PollRepository.getPoll),
  'PollRepository.observePoll': t => seen(t, t.sdk.PollRepository.observePoll),
  'PollRepository.onPollUpdated': async t => {
    const { pollId } = await posted(t);
    await t.listen('PollRepository.onPollUpdated', () => t.raw.PollRepository.closePoll(pollId), poll => poll.pollId === pollId && poll.status === 'closed');
  },
  'PollRepository.onPollDeleted': async t => {
    const { pollId } = await create(t);
    await t.watch(callback => t.raw.PollRepository.getPoll(pollId, callback)).until('the poll', ({ data }) => data?.pollId === pollId);
    await t.listen('PollRepository.onPollDeleted', () => t.raw.PollRepository.deletePoll(pollId), poll => poll.pollId === pollId);
  },
};
