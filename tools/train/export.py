#!/usr/bin/env python3
"""export.py - a trained model and its vocabulary as a GGUF file that mote runs.

    export.py c.pt chat-vocabulary.json tiny-gemma-q8_0.gguf q8_0
"""
import sys
from pathlib import Path

import gemma
from tokenizer import BOS, EOS, PAD, UNK, Tokenizer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import gguf  # noqa: E402

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{{ '<start_of_turn>' + ('model' if m['role'] == "
    "'assistant' else m['role']) + '\n' + m['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}")


def metadata(g, tokenizer, kind):
    """Keys and values, in the order of published files."""
    tokens, scores, types = (list(column) for column in zip(*tokenizer.vocabulary))
    end_of_turn = tokenizer.control.get('<end_of_turn>')
    kv = {
        'general.architecture': 'gemma',
        'general.type': 'model',
        'general.name': 'Tiny Gemma ' + ('Chat' if end_of_turn else 'Stories'),
        'gemma.context_length': g.context,
        'gemma.embedding_length': g.d_model,
        'gemma.block_count': g.n_layer,
        'gemma.feed_forward_length': g.ffn,
        'gemma.attention.head_count': g.n_head,
        'gemma.attention.head_count_kv': g.n_kv_head,
        'gemma.attention.layer_norm_rms_epsilon': g.eps,
        'gemma.attention.key_length': g.head_dim,
        'gemma.attention.value_length': g.head_dim,
        'general.file_type': gguf.TYPES[kind].file_type,
        'general.quantization_version': 2,
        'tokenizer.ggml.model': 'llama',
        'tokenizer.ggml.pre': 'default',
        'tokenizer.ggml.tokens': tokens,
        'tokenizer.ggml.scores': scores,
        'tokenizer.ggml.token_type': types,
        'tokenizer.ggml.bos_token_id': BOS,
        'tokenizer.ggml.eos_token_id': EOS,
        'tokenizer.ggml.unknown_token_id': UNK,
        'tokenizer.ggml.padding_token_id': PAD,
        'tokenizer.ggml.add_bos_token': True,
        'tokenizer.ggml.add_eos_token': False,
        'tokenizer.ggml.add_space_prefix': False,
    }
    if end_of_turn:
        kv['tokenizer.ggml.eot_token_id'] = end_of_turn
        kv['tokenizer.chat_template'] = TEMPLATE
    return kv


def tensor(name, weights, kind):
    """Norms are f32, and 1 + w in the file."""
    if weights.dim() == 1:
        weights, kind = 1 + weights, 'f32'
    return gguf.Tensor(name + '.weight', tuple(weights.shape[::-1]), kind,
                       [gguf.TYPES[kind].encode(weights.flatten().tolist())])


def main():
    checkpoint, vocabulary, out, kind = sys.argv[1:]
    model, _ = gemma.load(checkpoint)
    tensors = [tensor(name, w, kind) for name, w in model.state_dict().items()]
    # Published files have the embedding first, the output norm last.
    tensors.sort(key=lambda t: t.name == 'output_norm.weight')
    header = gguf.write(out, metadata(model.g, Tokenizer.from_file(vocabulary), kind), tensors)
    print(f'{out}: {Path(out).stat().st_size:,} bytes, {header:,} of them header')


if __name__ == '__main__':
    main()
