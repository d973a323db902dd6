//! Solidity types by name: canonical, and of a size that decoding can afford.
//!
//! In: type text as in a signature, or a parameter of an ABI. Out: the type, or a sentence that says what to write.

use alloy_dyn_abi::{DynSolType, parser::is_valid_identifier};

use super::{
    limits::{ABI_PARAMS_MAX, TYPE_DEPTH_MAX, TYPE_WORDS_MAX},
    stream::AbiParam,
};

/// Why a parameter's type cannot be, and where within the parameter: `type`, `components.0.type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypeFault {
    pub path: String,
    pub message: String,
}

/// `Name(type,type)`: the types. Only canonical types, so that the text's hash is the event's.
pub(super) fn parse_signature(text: &str) -> Result<Vec<DynSolType>, String> {
    let shape = || {
        format!(
            "`{text}` is not a signature: write Name(type,type) with canonical types, \
             without spaces, names and `indexed`"
        )
    };
    let (name, rest) = text.split_once('(').ok_or_else(shape)?;
    let list = rest.strip_suffix(')').ok_or_else(shape)?;
    if !is_valid_identifier(name) || text.contains(char::is_whitespace) {
        return Err(shape());
    }
    let types = parse_list(list, 0)?;
    checked_size(DynSolType::Tuple(types.clone()))?;
    Ok(types)
}

fn parse_list(text: &str, depth: usize) -> Result<Vec<DynSolType>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let parts = split_at_commas(text);
    if parts.len() > ABI_PARAMS_MAX {
        return Err(format!("has more than {ABI_PARAMS_MAX} types in one list"));
    }
    parts.into_iter().map(|part| parse_type(part, depth)).collect()
}

fn parse_type(text: &str, depth: usize) -> Result<DynSolType, String> {
    let (stem, sizes) = array_sizes(text)?;
    if depth + sizes.len() > TYPE_DEPTH_MAX {
        return Err(format!("`{text}` is nested too deep: at most {TYPE_DEPTH_MAX} levels"));
    }
    let inner = match stem.strip_prefix('(') {
        Some(rest) => {
            let list = rest.strip_suffix(')').ok_or_else(|| format!("`{text}` is not a type"))?;
            let types = parse_list(list, depth + sizes.len() + 1)?;
            if types.is_empty() {
                return Err("`()` is not a type".to_owned());
            }
            DynSolType::Tuple(types)
        }
        None => elementary(stem)?,
    };
    Ok(in_arrays(inner, &sizes))
}

/// The type of an ABI parameter; `tuple` has its types in `components`.
pub(super) fn param_type(param: &AbiParam) -> Result<DynSolType, TypeFault> {
    let ty = nested_param_type(param, 0)?;
    checked_size(ty).map_err(|message| TypeFault { path: "type".to_owned(), message })
}

fn nested_param_type(param: &AbiParam, depth: usize) -> Result<DynSolType, TypeFault> {
    let at = |path: &str, message: String| TypeFault { path: path.to_owned(), message };
    let (stem, sizes) = array_sizes(&param.kind).map_err(|message| at("type", message))?;
    if depth + sizes.len() > TYPE_DEPTH_MAX {
        let message = format!("is nested too deep: at most {TYPE_DEPTH_MAX} levels");
        return Err(at("type", message));
    }
    let components = param.components.as_deref().unwrap_or_default();
    let inner = if stem == "tuple" {
        if components.is_empty() {
            return Err(at("components", "a tuple needs its components".to_owned()));
        }
        let types = components.iter().enumerate().map(|(index, component)| {
            nested_param_type(component, depth + sizes.len() + 1)
                .map_err(|fault| at(&format!("components.{index}.{}", fault.path), fault.message))
        });
        DynSolType::Tuple(types.collect::<Result<_, _>>()?)
    } else if components.is_empty() {
        elementary(stem).map_err(|message| at("type", message))?
    } else {
        return Err(at("components", "only a tuple has components".to_owned()));
    };
    Ok(in_arrays(inner, &sizes))
}

/// One word such as `uint256`, in the one spelling that is hashed.
fn elementary(text: &str) -> Result<DynSolType, String> {
    let unknown = || format!("`{text}` is not a Solidity type");
    let plain = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if !plain || text.is_empty() {
        return Err(unknown());
    }
    let ty = DynSolType::parse(text).map_err(|_| unknown())?;
    let canonical = type_name(&ty);
    if canonical != text {
        return Err(format!("`{text}` is not a canonical type: write `{canonical}`"));
    }
    Ok(ty)
}

/// `uint8[2][]` is `uint8` with sizes 2 and none, the innermost first.
fn array_sizes(text: &str) -> Result<(&str, Vec<Option<usize>>), String> {
    let mut stem = text;
    let mut sizes = Vec::new();
    while let Some(rest) = stem.strip_suffix(']') {
        let bad = || format!("`{text}` is not a type");
        let (before, size) = rest.rsplit_once('[').ok_or_else(bad)?;
        let size = if size.is_empty() {
            None
        } else {
            let number: usize = size.parse().map_err(|_| bad())?;
            if number == 0 || number.to_string() != size {
                return Err(bad());
            }
            Some(number)
        };
        sizes.push(size);
        if sizes.len() > TYPE_DEPTH_MAX {
            return Err(format!("is nested too deep: at most {TYPE_DEPTH_MAX} levels"));
        }
        stem = before;
    }
    sizes.reverse();
    Ok((stem, sizes))
}

fn in_arrays(mut ty: DynSolType, sizes: &[Option<usize>]) -> DynSolType {
    for size in sizes {
        ty = match size {
            Some(size) => DynSolType::FixedArray(Box::new(ty), *size),
            None => DynSolType::Array(Box::new(ty)),
        };
    }
    ty
}

fn split_at_commas(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    })
    .collect()
}

/// A decoder makes room for all words of a fixed array, and for those of an element before it sees one.
fn checked_size(ty: DynSolType) -> Result<DynSolType, String> {
    if largest_words(&ty) > TYPE_WORDS_MAX {
        return Err(format!("is too large: at most {TYPE_WORDS_MAX} words of 32 bytes"));
    }
    Ok(ty)
}

fn largest_words(ty: &DynSolType) -> usize {
    match ty {
        DynSolType::Array(inner) => largest_words(inner),
        DynSolType::FixedArray(inner, size) => largest_words(inner).saturating_mul(*size),
        DynSolType::Tuple(types) => types.iter().map(largest_words).fold(0, usize::saturating_add),
        _ => 1,
    }
}

pub(super) fn is_dynamic(ty: &DynSolType) -> bool {
    match ty {
        DynSolType::Bytes | DynSolType::String | DynSolType::Array(_) => true,
        DynSolType::FixedArray(inner, _) => is_dynamic(inner),
        DynSolType::Tuple(types) => types.iter().any(is_dynamic),
        _ => false,
    }
}

/// Words that a value has in the place where it stands: an offset for dynamic types.
pub(super) fn head_words(ty: &DynSolType) -> usize {
    match ty {
        ty if is_dynamic(ty) => 1,
        DynSolType::FixedArray(inner, size) => head_words(inner).saturating_mul(*size),
        DynSolType::Tuple(types) => types.iter().map(head_words).fold(0, usize::saturating_add),
        _ => 1,
    }
}

/// As it is hashed. Not the library's name, which writes a comma into tuples of one.
pub(super) fn type_name(ty: &DynSolType) -> String {
    match ty {
        DynSolType::Tuple(types) => type_list_name(types),
        DynSolType::Array(inner) => format!("{}[]", type_name(inner)),
        DynSolType::FixedArray(inner, size) => format!("{}[{size}]", type_name(inner)),
        other => other.sol_type_name().into_owned(),
    }
}

pub(super) fn type_list_name(types: &[DynSolType]) -> String {
    format!("({})", types.iter().map(type_name).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_canonical_or_say_what_to_write() {
        for (given, expected) in [
            ("Transfer(address,address,uint256)", Ok(3)),
            ("Ping()", Ok(0)),
            ("A((uint256),(bool,string[])[2],bytes32[][3])", Ok(3)),
            ("_$9(int8)", Ok(1)),
            ("Transfer(address,uint)", Err("`uint` is not a canonical type: write `uint256`")),
            ("Transfer(int)", Err("`int` is not a canonical type: write `int256`")),
            ("Transfer(uint08)", Err("`uint08` is not a canonical type: write `uint8`")),
            ("Transfer(address, uint256)", Err("without spaces")),
            ("Transfer(address indexed,uint256)", Err("`indexed`")),
            ("Transfer", Err("not a signature")),
            ("Transfer(address", Err("not a signature")),
            ("(address)", Err("not a signature")),
            ("9(address)", Err("not a signature")),
            ("T(address,)", Err("`` is not a Solidity type")),
            ("T(())", Err("`()` is not a type")),
            ("T(adress)", Err("`adress` is not a Solidity type")),
            ("T(tuple)", Err("`tuple` is not a Solidity type")),
            ("T(uint7)", Err("`uint7` is not a Solidity type")),
            ("T(uint256[0])", Err("is not a type")),
            ("T(uint256[02])", Err("is not a type")),
            ("T(uint256[-1])", Err("is not a type")),
            ("T(uint256])", Err("is not a type")),
            ("T(uint256[99999999999999999999999])", Err("is not a type")),
            ("T(uint256[1000000000])", Err("too large")),
            ("T(uint256[1000][1000][])", Err("too large")),
            ("T(bool[][][][][][][][][])", Err("nested too deep")),
            ("T(((((((((((bool)))))))))))", Err("nested too deep")),
            ("T((bool)", Err("is not a type")),
            ("T(bool))", Err("is not a")),
        ] {
            let read = parse_signature(given);
            match expected {
                Ok(count) => assert_eq!(read.unwrap().len(), count, "{given}"),
                Err(words) => {
                    let message = read.unwrap_err();
                    assert!(message.contains(words), "{given}: {message}");
                }
            }
        }
    }

    #[test]
    fn names_are_those_that_are_hashed() {
        for text in ["T((uint256),(bool,string[])[2],bytes32[][3])", "T(function,int8)", "T()"] {
            let types = parse_signature(text).unwrap();
            assert_eq!(format!("T{}", type_list_name(&types)), text);
        }
    }
}
