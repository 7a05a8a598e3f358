//! What a cell of a Parquet file says, as a CSV would write it.

use std::any::Any;

use mock_providers::rfc_3339;
use polars_arrow::{
    array::{
        Array, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, PrimitiveArray, StructArray,
        Utf8ViewArray,
    },
    datatypes::{ArrowDataType, TimeUnit},
    types::NativeType,
};
use router::{Epoch, Instant};
use serde_json::{Map, Value};

use super::fields::Field;

/// `None` if columns of this type can be read for the field, else what would be accepted.
pub(crate) fn accepted(field: Field, of: &ArrowDataType) -> Option<&'static str> {
    let is_text = matches!(of, ArrowDataType::Utf8View | ArrowDataType::BinaryView);
    let is_number = number(of);
    let is_time = matches!(of, ArrowDataType::Timestamp(..));
    let is_truth = matches!(of, ArrowDataType::Boolean);
    let is_uuid = matches!(of, ArrowDataType::FixedSizeBinary(16));
    // A column in which every cell is empty may have no type.
    let is_empty = matches!(of, ArrowDataType::Null);
    let (fits, accepted) = match field {
        Field::Start | Field::End | Field::FirstTokenAt => {
            (is_text || is_number || is_time, "times, numbers or text")
        }
        Field::LatencyMs
        | Field::LatencyS
        | Field::FirstTokenMs
        | Field::FirstTokenS
        | Field::PromptTokens
        | Field::OutputTokens => (is_text || is_number, "numbers or text"),
        Field::Metadata => {
            let is_structure = matches!(of, ArrowDataType::Struct(_));
            (is_text || is_structure, "text or a structure")
        }
        Field::Model
        | Field::Deployment
        | Field::ProviderModel
        | Field::Provider
        | Field::Status
        | Field::ErrorCode
        | Field::Stream
        | Field::Sender
        | Field::Session
        | Field::Cached
        | Field::Id
        | Field::CallType => (
            is_text || is_number || is_truth || is_uuid,
            "text, numbers, or true and false",
        ),
    };
    (!fits && !is_empty).then_some(accepted)
}

const fn number(of: &ArrowDataType) -> bool {
    use ArrowDataType as T;
    matches!(
        of,
        T::Int8
            | T::Int16
            | T::Int32
            | T::Int64
            | T::UInt8
            | T::UInt16
            | T::UInt32
            | T::UInt64
            | T::Float32
            | T::Float64
    )
}

/// A type as told to people.
pub(crate) fn type_of(of: &ArrowDataType) -> String {
    let told = format!("{of:?}");
    let name = told.split([' ', '(', '{']).next().unwrap_or_default();
    name.to_lowercase()
}

/// The cell at `at`; `None` where there is no value.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "another crate's enum; what is not listed is never accepted"
)]
pub(crate) fn text(of: &dyn Array, at: usize) -> Option<String> {
    if of.is_null(at) {
        return None;
    }
    let any = of.as_any();
    match of.dtype() {
        ArrowDataType::Utf8View => Some(any.downcast_ref::<Utf8ViewArray>()?.value(at).to_owned()),
        ArrowDataType::BinaryView => {
            let bytes = any.downcast_ref::<BinaryViewArray>()?.value(at);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        ArrowDataType::Boolean => Some(any.downcast_ref::<BooleanArray>()?.value(at).to_string()),
        ArrowDataType::Int8 => whole::<i8>(any, at),
        ArrowDataType::Int16 => whole::<i16>(any, at),
        ArrowDataType::Int32 => whole::<i32>(any, at),
        ArrowDataType::Int64 => whole::<i64>(any, at),
        ArrowDataType::UInt8 => whole::<u8>(any, at),
        ArrowDataType::UInt16 => whole::<u16>(any, at),
        ArrowDataType::UInt32 => whole::<u32>(any, at),
        ArrowDataType::UInt64 => whole::<u64>(any, at),
        ArrowDataType::Float32 => {
            let value = value::<f32>(any, at)?;
            value.is_finite().then(|| value.to_string())
        }
        ArrowDataType::Float64 => {
            let value = value::<f64>(any, at)?;
            value.is_finite().then(|| value.to_string())
        }
        ArrowDataType::Timestamp(unit, _) => {
            let unit_ns = match unit {
                TimeUnit::Second => 1_000_000_000,
                TimeUnit::Millisecond => 1_000_000,
                TimeUnit::Microsecond => 1_000,
                TimeUnit::Nanosecond => 1,
            };
            Some(moment(i128::from(value::<i64>(any, at)?) * unit_ns))
        }
        ArrowDataType::FixedSizeBinary(_) => {
            let bytes = any.downcast_ref::<FixedSizeBinaryArray>()?.value(at);
            Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
        }
        ArrowDataType::Struct(_) => Some(structure(any.downcast_ref()?, at).to_string()),
        _ => None,
    }
}

fn value<T: NativeType>(of: &dyn Any, at: usize) -> Option<T> {
    Some(of.downcast_ref::<PrimitiveArray<T>>()?.value(at))
}

fn whole<T: NativeType + ToString>(of: &dyn Any, at: usize) -> Option<String> {
    value::<T>(of, at).map(|value| value.to_string())
}

/// As the JSON that a text would hold; of lists and the like it says nothing.
fn structure(of: &StructArray, at: usize) -> Value {
    let mut map = Map::new();
    for (field, values) in of.fields().iter().zip(of.values()) {
        let inner = values.as_any().downcast_ref::<StructArray>();
        let value = match inner.filter(|inner| !inner.is_null(at)) {
            Some(inner) => Some(structure(inner, at)),
            None => text(values.as_ref(), at).map(Value::from),
        };
        if let Some(value) = value {
            map.insert(field.name.to_string(), value);
        }
    }
    Value::Object(map)
}

/// With nanoseconds, in UTC: what has no zone is taken so, as in a CSV.
fn moment(ns: i128) -> String {
    let Ok(seconds) = u64::try_from(ns.div_euclid(1_000_000_000)) else {
        return "a time before 1970".to_owned();
    };
    let text = rfc_3339(Epoch::from_unix_seconds(seconds), Instant::ZERO);
    let below = ns.rem_euclid(1_000_000_000);
    format!("{}.{below:09}Z", text.trim_end_matches('Z'))
}
